import Foundation
import Testing

/// `scripts/fuzz --keep` keeps the fewest cases that reach all code which its search has reached: `Corpus`, a case a line, in
/// base64.
@Suite("kept cases of the fuzzers") struct CorpusTests {
    @Test("each reader keeps its promises", arguments: FuzzTarget.allCases)
    func keepsItsPromises(target: FuzzTarget) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(target.rawValue)")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            let bytes = try #require(Data(base64Encoded: String(line)))
            #expect(throws: Never.self, "\(target.rawValue): \(line)") { try target.run([UInt8](bytes)) }
        }
    }
}
