import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// Nothing runs, and there is no state folder.
@Suite struct QuestionnaireCheckTests {
    private static let shipped = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/QuestionnaireService/Definitions/yoked-compat.json").path

    @Test func aDefinitionIsCheckedWithItsLines() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let clean = try installation.run(
            "questionnaire", "check", Self.shipped, "--state", installation.state.path)
        #expect(
            clean.code == 0
                && clean.output == "0 errors, 0 warnings; the shortest path shows 25 questions, the longest 25\n"
                    + "note: no system runs here, so it was not compared with published versions and fields (E14, E15, E16, E18)\n"
        )
        let text = try String(contentsOfFile: Self.shipped, encoding: .utf8)
        let broken = FileManager.default.temporaryDirectory.appending(path: "broken-\(UUID().uuidString).json").path
        defer { unlink(broken) }
        try text.replacing("\"type\": \"slider\"", with: "\"type\": \"essay\"").write(
            toFile: broken, atomically: true, encoding: .utf8)
        let found = try installation.run("questionnaire", "check", broken)
        let place = text.split(separator: "\n", omittingEmptySubsequences: false)
            .firstIndex { $0.contains("\"type\": \"slider\"") }
        let line = try #require(place) + 1
        #expect(found.code == 65 && found.output.hasPrefix("\(broken):\(line):"))
        let json = try installation.run("questionnaire", "check", broken, "--json")
        let findings = try JSONValue.parse(Array(json.output.utf8))["findings"]
        #expect(json.code == 65 && findings?.arrayValue?.isEmpty == false)
    }

    @Test func aPlanIsCheckedAndComparedWithItsLines() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let folder = URL(filePath: Self.shipped).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let shipped = folder.appending(path: "ProfileService/Plans/yoked.json").path
        let clean = try installation.run("plan", "check", shipped, "--state", installation.state.path)
        #expect(
            clean.code == 0
                && clean.output == "0 errors, 0 warnings\n"
                    + "note: no system runs here, so it was not compared with other plans and with questionnaires\n"
        )
        let changed = FileManager.default.temporaryDirectory.appending(path: "plan-\(UUID().uuidString).json").path
        defer { unlink(changed) }
        let text = try String(contentsOfFile: shipped, encoding: .utf8)
        try text.replacing("\"minimum\": 18", with: "\"minimum\": 21").write(
            toFile: changed, atomically: true, encoding: .utf8)
        let difference = try installation.run("plan", "diff", shipped, changed)
        #expect(difference.code == 0 && difference.output == "reask: age_rule [/age]\n1 change; the version is reask\n")
        try text.replacing("\"bio\"", with: "\"song\"").write(toFile: changed, atomically: true, encoding: .utf8)
        let found = try installation.run("plan", "check", changed)
        #expect(found.code == 65 && found.output.contains("[unknown_field /steps/0/screens/7/fields/0/field]"))
    }

    @Test func aLibraryOfFieldsIsCheckedAndComparedWithItsLines() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let folder = URL(filePath: Self.shipped).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let shipped = folder.appending(path: "ProfileService/Fields/fields.json").path
        let clean = try installation.run("fields", "check", shipped, "--state", installation.state.path)
        #expect(
            clean.code == 0
                && clean.output == "0 errors, 0 warnings\nnote: it was compared with version 2 of this release\n")
        let changed = FileManager.default.temporaryDirectory.appending(path: "fields-\(UUID().uuidString).json").path
        defer { unlink(changed) }
        let text = try String(contentsOfFile: shipped, encoding: .utf8)
        try text.replacing("\"lastName\"", with: "\"surname\"").write(
            toFile: changed, atomically: true, encoding: .utf8)
        let difference = try installation.run("fields", "diff", shipped, changed)
        #expect(difference.code == 0 && difference.output.hasSuffix("2 changes; the version is breaking\n"))
        let found = try installation.run("fields", "check", changed)
        #expect(found.code == 65 && found.output.contains("[field_removed /fields/2]"))
    }

    @Test func aStimulusSetIsCheckedAndComparedWithItsLines() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let folder = URL(filePath: Self.shipped).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let shipped = folder.appending(path: "VisualPreferenceService/Sets/drawn_faces.json").path
        let clean = try installation.run("stimuli", "check", shipped, "--state", installation.state.path)
        #expect(clean.code == 0 && clean.output == "0 errors, 0 warnings\n")
        let changed = FileManager.default.temporaryDirectory.appending(path: "set-\(UUID().uuidString).json").path
        defer { unlink(changed) }
        let text = try String(contentsOfFile: shipped, encoding: .utf8)
        try text.replacing("face_02", with: "face_99").write(toFile: changed, atomically: true, encoding: .utf8)
        let difference = try installation.run("stimuli", "diff", shipped, changed)
        #expect(difference.code == 0 && difference.output.hasSuffix("2 changes; the version is breaking\n"))
        let found = try installation.run("stimuli", "check", changed)
        #expect(found.code == 65 && found.output.hasPrefix("\(changed):6:12: error: "))
        #expect(found.output.contains("[unknown_picture /items/1/id]"))
    }

    @Test func conditionsOverFactsAndSubjectsAreCheckedWithTheirLines() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let file = FileManager.default.temporaryDirectory.appending(path: "family-\(UUID().uuidString).json").path
        defer { unlink(file) }
        func check(_ condition: String) throws -> (code: Int32, output: String) {
            try """
            {"key": "family", "version": 1, "titleKey": "q", "locales": ["en"], "defaultLocale": "en",
             "strings": {"en": {"q": "A text"}},
             "sections": [
              {"key": "children", "repeat": {"subject": "child", "min": 1, "max": 3},
               "questions": [{"key": "toy", "type": "boolean", "textKey": "q"}]},
              {"key": "after", "questions": [{"key": "rest", "type": "boolean", "textKey": "q",
               "visibleIf": \(condition)}]}]}
            """.write(toFile: file, atomically: true, encoding: .utf8)
            let found = try installation.run("questionnaire", "check", file)
            return (found.code, found.output)
        }
        let fine = try check(#"{"subjects": {"any": ["child", {"var": "toy"}]}}"#)
        #expect(fine.code == 0 && fine.output.hasPrefix("0 errors, 0 warnings"))
        let many = try check(#"{">": [{"subjects": {"count": "child"}}, 3]}"#)
        #expect(many.code == 65)
        #expect(many.output.contains("\(file):7:17: error: This condition can never hold. (children) [E06 "))
        let language = try check(#"{"==": [{"ctx": "locale"}, "sv"]}"#)
        #expect(language.output.hasPrefix("\(file):7:44: error: This must be one of en. (locale, sv) [E03 "))
        let secret = try check(#"{"==": [{"ctx": "profile.religion"}, "x"]}"#)
        #expect(secret.output.contains(":7:33: error:") && secret.output.contains("[E02 "))
    }

    @Test func eachChangeIsReportedWithItsClass() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let same = try installation.run("questionnaire", "diff", Self.shipped, Self.shipped)
        #expect(same.code == 0 && same.output == "0 changes\n")
        let text = try String(contentsOfFile: Self.shipped, encoding: .utf8)
        let edited = FileManager.default.temporaryDirectory.appending(path: "edited-\(UUID().uuidString).json").path
        defer { unlink(edited) }
        try text.replacing("\"relationshipGoal\"", with: "\"aim\"").replacing("What matters to you", with: "You").write(
            toFile: edited, atomically: true, encoding: .utf8)
        let found = try installation.run("questionnaire", "diff", Self.shipped, edited)
        #expect(found.code == 0 && found.output.hasPrefix("breaking: key_renamed (relationshipGoal, aim) ["))
        #expect(found.output.hasSuffix("2 changes; the version is breaking\n"))
        let json = try installation.run("questionnaire", "diff", Self.shipped, edited, "--json")
        #expect(try JSONValue.parse(Array(json.output.utf8))["class"] == "breaking")
        #expect(try installation.run("questionnaire", "diff", Self.shipped).code == 64)
        #expect(try installation.run("questionnaire", "diff", Self.shipped, "/nowhere").code == 66)
    }

    @Test func unreadableFilesAndWrongUsageAreErrors() throws {
        let installation = try Installation()
        defer { installation.remove() }
        #expect(try installation.run("questionnaire", "check", "/nowhere/at-all.json").code == 66)
        #expect(try installation.run("questionnaire", "check").code == 64)
        #expect(try installation.run("questionnaire", "publish", Self.shipped).code == 64)
    }
}
