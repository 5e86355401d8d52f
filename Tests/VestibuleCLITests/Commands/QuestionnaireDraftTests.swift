import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// From a file to the version that people are asked, by an operator at a terminal.
@Suite("vestibule questionnaire import and publish", .serialized) struct QuestionnaireDraftTests {
    private static func definition(_ questions: [JSONValue]) -> JSONValue {
        [
            "key": "family", "version": 1, "titleKey": "q", "locales": ["en"], "defaultLocale": "en",
            "strings": ["en": ["q": "A text"]], "sections": [["key": "home", "questions": .array(questions)]],
        ]
    }

    private static func question(_ key: String, _ type: JSONValue = "text") -> JSONValue {
        ["key": .string(key), "type": type, "textKey": "q", "required": true]
    }

    @Test func aFileBecomesADraftAndTheDraftAVersion() throws {
        let system = try RunningSystem(scale: "questionnaire=2")
        defer { system.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "family-\(UUID().uuidString).json").path
        defer { unlink(file) }
        func write(_ value: JSONValue) throws {
            try PrettyJSON.text(of: value).write(toFile: file, atomically: true, encoding: .utf8)
        }
        func run(_ words: String...) throws -> (code: Int32, output: String) {
            try system.installation.run(["questionnaire"] + words + ["--state", system.installation.state.path])
        }

        try write(Self.definition([Self.question("homeTown", "essay")]))
        let broken = try run("import", file)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let line = try #require(lines.firstIndex { $0.contains("essay") }) + 1
        #expect(broken.code == 65 && broken.output.hasPrefix("\(file):\(line):"))
        #expect(broken.output.contains("1 error, 0 warnings\nThis is draft 1 of family.\n"))
        let refused = try run("publish", "family", "1")
        #expect(refused.code == 65 && refused.output.contains("[malformed /sections/0/questions/0/type]"))
        #expect(refused.output.contains("definition_invalid") && refused.output.contains("import it again"))

        try write(Self.definition([Self.question("homeTown")]))
        #expect(try run("import", file).output == "0 errors, 0 warnings\nThis is draft 2 of family.\n")
        let first = try run("publish", "family", "2")
        #expect(first.code == 0 && first.output == "Version 1 of family is published.\n", "there is nobody to move")

        try write(Self.definition([Self.question("homeTown"), Self.question("street")]))
        #expect(try run("import", file).code == 0)
        let unmeant = try run("publish", "family", "3", "--accept", "additive")
        #expect(unmeant.code == 1 && unmeant.output.contains("is reask. It affects 0 open sessions and 0 answers."))
        #expect(unmeant.output.contains("add --accept reask"))
        let listed = try run("ls", "family")
        #expect(
            listed.code == 0 && listed.output.contains("1        in use") && listed.output.contains("not published"))
        #expect(try run("ls").output.contains(#/yoked-compat +3 +20/#))
        #expect(try run("ls", "nothing").code == 1)
        let change = "reask: required_question_added (street) [/sections/0/questions/1]\n"
        #expect(unmeant.output.hasPrefix(change))
        let second = try run("publish", "family", "3", "--accept", "reask")
        #expect(
            second.code == 0 && second.output.hasPrefix(change + "Version 2 of family is published, which is reask.\n"))
        let again = try run("publish", "family", "3", "--accept", "reask")
        #expect(again.code == 1 && again.output.contains("draft_published"))
        #expect(try run("delete-draft", "family", "1").output == "Draft 1 of family is deleted.\n")
        #expect(try run("delete-draft", "family", "1").code == 0, "it stays deleted")
        #expect(try run("delete-draft", "family", "2").output.contains("draft_published"))
        #expect(try run("delete-draft", "family", "9").output.contains("not_found"))

        // The second question is removed, and then returns together with another one. `check` finds the same as
        // `import`.
        for questions in [[Self.question("homeTown")], [Self.question("road"), Self.question("street")]] {
            try write(Self.definition(questions))
            let (checked, imported) = (try run("check", file), try run("import", file))
            let draft = try #require(imported.output.firstMatch(of: /draft ([0-9]+) of/)?.1)
            if questions.count == 1 {
                #expect(checked.code == 0 && checked.output.contains("would be version 3"))
                #expect(try run("publish", "family", String(draft), "--accept", "breaking").code == 0)
            } else {
                let line = try #require(checked.output.split(separator: "\n").first)
                #expect(checked.code == 65 && line.contains("[E14 ") && imported.output.hasPrefix("\(line)\n"))
            }
        }
        let nothing = try run("publish", "family", "9")
        #expect(nothing.code == 1 && nothing.output.contains("not_found") && nothing.output.contains("import FILE"))
        let versions = try system.sql(
            "SELECT string_agg(version::text, ',' ORDER BY version) FROM questionnaire.definitions WHERE questionnaire = 'family'"
        )
        #expect(versions.trimmingCharacters(in: .whitespacesAndNewlines) == "1,2,3")
        let trail = try system.sql(
            "SELECT count(*) FROM questionnaire.audit WHERE act = 'questionnaire_published' AND details LIKE '%operator%'"
        )
        #expect(trail.trimmingCharacters(in: .whitespacesAndNewlines) == "3")
        try Self.publishPlan(system)
        try Self.publishStimuli(system)
    }

    /// The same commands for a plan, in the same system.
    private static func publishPlan(_ system: RunningSystem) throws {
        func run(_ words: String...) throws -> (code: Int32, output: String) {
            try system.installation.run(["plan"] + words + ["--state", system.installation.state.path])
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "garden-\(UUID().uuidString).json").path
        defer { unlink(file) }
        func write(_ questionnaire: String, need: String) throws {
            try """
            {"key": "garden", "version": 1, "apps": ["garden"], "locales": ["en"], "defaultLocale": "en",
             "signIn": {"titleKey": "t", "methods": ["google"], "phone": "none"}, "strings": {"en": {"t": "A text"}},
             "steps": [
              {"key": "home", "questionnaire": "\(questionnaire)", "need": "required"},
              {"key": "you", "need": "\(need)", "screens": [
               {"key": "name", "titleKey": "t", "fields": [{"field": "displayName"}]}]}]}
            """.write(toFile: file, atomically: true, encoding: .utf8)
        }
        try write("meadow", need: "optional")
        let unknown = "\(file):4:36: error: There is no published questionnaire meadow. (meadow) "
        #expect(try run("check", file).output.hasPrefix(unknown))
        #expect(try run("import", file).output.hasPrefix(unknown))
        #expect(try run("publish", "garden", "1").output.contains("unknown_questionnaire"))
        try write("family", need: "optional")
        #expect(try run("import", file).output == "0 errors, 0 warnings\nThis is draft 2 of garden.\n")
        #expect(try run("publish", "garden", "2").output == "Version 1 of garden is published.\n")
        try write("family", need: "required")
        let checked = try run("check", file)
        #expect(checked.code == 0 && checked.output.contains("would be version 2"))
        #expect(try run("import", file).code == 0)
        let unmeant = try run("publish", "garden", "3", "--accept", "additive")
        #expect(unmeant.code == 1 && unmeant.output.contains("reask: need_required (you) [/steps/1/need]"))
        #expect(unmeant.output.contains("It affects 0 people with older versions"))
        #expect(try run("publish", "garden", "3", "--accept", "reask").code == 0)
        #expect(try run("ls").output.contains(#/garden +2 +20.* garden/#))
        #expect(try run("ls", "garden").output.contains(#/2 +in use/#))
        #expect(try run("delete-draft", "garden", "1").output == "Draft 1 of garden is deleted.\n")
    }

    /// The same commands for a document of which there is one, in the same system.
    private static func publishStimuli(_ system: RunningSystem) throws {
        func run(_ words: String...) throws -> (code: Int32, output: String) {
            try system.installation.run(["stimuli"] + words + ["--state", system.installation.state.path])
        }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/VisualPreferenceService/Sets/drawn_faces.json"
        ).standardizedFileURL.path
        #expect(try run("import", file).output == "0 errors, 0 warnings\nThis is draft 1 of stimuli.\n")
        #expect(try run("publish", "1").output == "Version 2 of stimuli is published.\n")
        let listed = try run("ls").output
        #expect(listed.contains(#/2 +in use/#) && listed.contains(#/1 +published as version 2/#))
        #expect(try run("delete-draft", "1").output.contains("draft_published"))
        #expect(try run("delete-draft", "2").output.contains("vestibule stimuli ls lists the drafts"))
    }

    @Test func unreadableFilesAndWrongUsageAreReported() throws {
        let installation = try Installation()
        defer { installation.remove() }
        #expect(try installation.run("questionnaire", "import", "/nowhere/at-all.json").code == 66)
        #expect(try installation.run("questionnaire", "import").code == 64)
        let file = FileManager.default.temporaryDirectory.appending(path: "slip-\(UUID().uuidString).json").path
        defer { unlink(file) }
        try "{\"key\": \"family\" 1}".write(toFile: file, atomically: true, encoding: .utf8)
        let slip = try installation.run("questionnaire", "import", file)
        #expect(slip.code == 65)
        #expect(
            slip.output == "vestibule: \(file):1:18: not JSON: unexpected character\n  {\"key\": \"family\" 1}\n"
                + "                   ^\n")
        #expect(try installation.run("questionnaire", "publish", "family", "x").code == 64)
        #expect(try installation.run("questionnaire", "publish", "family", "1", "--accept", "all").code == 64)
    }
}
