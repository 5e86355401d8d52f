import BusProtocol
import Documents
import EventLoop
import Foundation
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import ProfileService

@Suite("plans and fields of a folder") struct PlanFolderTests {
    /// A folder with copies of shipped files, edited.
    private struct Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "plans-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        func remove() { try? FileManager.default.removeItem(atPath: path) }

        func write(_ name: String, _ plan: String = "eko-family", _ edits: [String: JSONValue] = [:]) throws {
            let file = try #require(EmbeddedFiles.Plans.all.first { $0.name == plan })
            let members = try #require(JSONValue.parse(file.bytes).objectValue).merging(edits) { $1 }
            try PrettyJSON.text(of: .object(members)).write(
                toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
        }
    }

    /// Runs a stage with a folder in its environment.
    private static func run(
        _ folder: Folder, plan: String = "yoked", _ body: @escaping @Loop @Sendable (ServiceStage) async throws -> Void
    ) async throws {
        defer { folder.remove() }
        try await ServiceStage.run(
            ProfileServiceDefinition.definition,
            environment: ["PROFILE_PLANS_FOLDER": folder.path, "PROFILE_DEFAULT_PLAN": plan], body)
    }

    private static func rows(_ stage: ServiceStage, until wanted: String, _ sql: String) async throws {
        let end = ContinuousClock.now + .seconds(10)
        var found = ""
        repeat {
            found = try await stage.rows(sql)
            if found == wanted { return }
            try await Loop.sleep(for: .milliseconds(10))
        } while ContinuousClock.now < end
        #expect(found == wanted)
    }

    @Test func aNewPlanIsPublishedAndANewerVersionBecomesADraftOnce() async throws {
        let folder = try Folder()
        try folder.write("garden.json", "eko-family", ["key": "garden", "apps": ["garden"], "version": 7])
        try folder.write("eko.json", "eko-family", ["version": 2, "apps": ["eko-family", "eko"]])
        try folder.write("yoked.json", "yoked")
        try await Self.run(folder, plan: "garden") { stage in
            let versions = "SELECT plan, version FROM plans ORDER BY 1"
            // In an empty database the file is the first version, and the shipped one does not replace it.
            try await Self.rows(
                stage, until: "eko-family|2\ngarden|7\nrealsingles|2\nskin-care|1\nyoked|4", versions)
            try folder.write("garden.json", "eko-family", ["key": "garden", "apps": ["garden", "park"], "version": 8])
            try await stage.addReplica()
            try await stage.addReplica()
            let drafts = "SELECT plan, number, copy_of IS NULL FROM plan_drafts"
            try await Self.rows(stage, until: "garden|1|t", drafts)
            try await Self.rows(
                stage, until: "eko-family|2\ngarden|7\nrealsingles|2\nskin-care|1\nyoked|4", versions)
            let drafted = try await stage.rows("SELECT count(*) FROM plan_drafts")
            #expect(drafted == "1")
            #expect(stage.log.text.components(separatedBy: "\"plan_drafted\"").count == 2)
        }
    }

    @Test func aLibraryOfTheFolderIsTheFirstVersion() async throws {
        let folder = try Folder()
        let text = String(decoding: EmbeddedFiles.Fields.fields.bytes, as: UTF8.self)
            .replacing("\"en\": \"Male\"", with: "\"en\": \"Man\"").replacing("\"version\": 2", with: "\"version\": 5")
        try text.write(toFile: "\(folder.path)/fields.json", atomically: true, encoding: .utf8)
        try await Self.run(folder) { stage in
            try await Self.rows(stage, until: "fields|5", "SELECT fields, version FROM field_libraries")
            #expect(try await stage.rows("SELECT count(*) FROM field_library_drafts") == "0")
        }
    }

    @Test func anEditedFileOfAPublishedVersionIsRefused() async throws {
        let folder = try Folder()
        try folder.write("garden.json", "eko-family", ["key": "garden", "apps": ["garden"]])
        try await Self.run(folder) { stage in
            try await Self.rows(stage, until: "1", "SELECT count(*) FROM plans WHERE plan = 'garden'")
            try folder.write("garden.json", "eko-family", ["key": "garden", "apps": ["garden", "park"]])
            let end = try await stage.addReplica().waitForEnd()
            guard case .refused(let reason) = end else { return #expect(Bool(false), "it started") }
            #expect(reason.hasPrefix("\(folder.path)/garden.json cannot be used: version 1 of garden is published"))
            #expect(reason.hasSuffix("Give the file the number 2."))
        }
    }

    @Test(
        "a file that the gate refuses is named",
        arguments: [
            ("garden.json", ["key": "garden", "apps": ["yoked-app", "eko-family"]], "duplicate_app"),
            ("garden.json", ["key": "garden", "apps": ["garden"], "steps": []], "malformed"),
            ("fields.json", ["key": "garden"], "malformed"),
        ] as [(String, [String: JSONValue], String)])
    func refused(name: String, edits: [String: JSONValue], code: String) async throws {
        let folder = try Folder()
        try folder.write("eko.json")
        try folder.write(name, "eko-family", edits)
        defer { folder.remove() }
        do {
            try await Self.run(folder) { stage in
                guard case .refused(let reason) = await stage.containers[0].waitForEnd() else { return }
                throw DocumentFileRefused(reason)
            }
            #expect(Bool(false), "it started")
        } catch let refused as DocumentFileRefused {
            #expect(refused.description.hasPrefix("\(folder.path)/\(name) cannot be used: "))
            #expect(refused.description.contains("(\(code))"))
        }
    }

    @Test func twoFilesOfOnePlanAreRefused() throws {
        let folder = try Folder()
        defer { folder.remove() }
        try folder.write("a.json")
        try folder.write("b.json")
        let error = #expect(throws: DocumentFileRefused.self) { try PlanFiles(folder: folder.path) }
        #expect(error?.description.contains("/a.json has the plan eko-family already") == true)
        #expect(throws: DocumentFileRefused.self) { try PlanFiles(folder: folder.path + "/nowhere") }
    }

    @Test func aDefaultPlanThatIsNotThereIsRefused() async throws {
        try await Self.run(try Folder(), plan: "meadow") { stage in
            guard case .refused(let reason) = await stage.containers[0].waitForEnd() else {
                return #expect(Bool(false), "it started")
            }
            #expect(
                reason == "PROFILE_DEFAULT_PLAN names the plan meadow, which is not there. "
                    + "The plans are eko-family, realsingles, skin-care, yoked.")
        }
    }
}
