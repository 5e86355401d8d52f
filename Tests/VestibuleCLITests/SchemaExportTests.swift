import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

@Suite("exported schema") struct SchemaExportTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/schema")

    @Test func theCommittedSchemasAreThoseOfTheBuild() throws {
        // Tests of the services compare the schemas of their files.
        let files = ["plan.json"] + SingleDocumentCommand.kinds.map { "\($0.name).json" }
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path).filter {
            $0.hasSuffix(".json") && !files.contains($0)
        }
        let exported = SchemaExport.files
        #expect(difference(between: paths, and: exported.keys) == [], "run: vestibule schema export docs/schema")
        for (name, text) in exported {
            let committed = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
            #expect(committed == text, "\(name): run vestibule schema export docs/schema")
        }
    }

    @Test func everyReferenceLeadsSomewhere() throws {
        let files = try SchemaExport.files.mapValues {
            try JSONValue.parse(Array($0.utf8), limits: JSONLimits(depth: 64, values: .max))
        }
        let document = try #require(files["asyncapi.json"])
        for reference in references(in: document) {
            let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            var place = parts[0].isEmpty ? document : files[String(parts[0])]
            for name in parts[1].split(separator: "/") { place = place?[String(name)] }
            #expect(place != nil, "\(reference)")
        }
    }

    private func references(in value: JSONValue) -> [String] {
        switch value {
        case .array(let elements): elements.flatMap { references(in: $0) }
        case .object(let members):
            members.flatMap { $0.key == "$ref" ? [$0.value.stringValue ?? ""] : references(in: $0.value) }
        default: []
        }
    }
}
