import BusProtocol
import JSONText
import Testing

@testable import QuestionnaireService

@Suite("checking a file") struct DefinitionCheckTests {
    static let text = """
        {
          "key": "a-b", "version": 1, "titleKey": "t",
          "locales": ["en"], "defaultLocale": "en",
          "strings": {"en": {"t": "Title", "spare/part": "x"}},
          "sections": [
            {
              "key": "one",
              "questions": [
                {"key": "first", "type": "boolean", "textKey": "t"},
                {
                  "key": "second", "type": "boolean", "textKey": "t",
                  "visibleIf": {"and": [{"var": "first"}, {"not": {"var": "first"}}]}
                }
              ]
            }
          ]
        }
        """

    static func lines(_ text: String) -> [String] {
        DefinitionCheck(Array(text.utf8), today: testDay).lines(of: "f.json")
    }

    @Test func aProblemIsPrintedWithItsPlace() {
        #expect(
            Self.lines(Self.text) == [
                "f.json:4:50: error: This string is not used. (spare/part) [E11 /strings/en/spare~1part]",
                "1 error, 0 warnings",
            ])
    }

    @Test func thePublishGateRunsOnceAllElseIsValid() {
        let text = Self.text.replacing(", \"spare/part\": \"x\"", with: "")
        #expect(
            Self.lines(text) == [
                "f.json:10:9: warning: Nobody ever sees this question. (second, first) [W2 /sections/0/questions/1]",
                "f.json:12:24: error: This condition can never hold. (first) [E06 /sections/0/questions/1/visibleIf]",
                "1 error, 1 warning; the shortest path shows 1 questions, the longest 1",
            ])
    }

    @Test func aMissingMemberIsReportedAtItsParent() {
        let text = Self.text.replacing("\"type\": \"boolean\", \"textKey\": \"t\"},", with: "\"textKey\": \"t\"},")
        #expect(
            Self.lines(text).first
                == "f.json:9:9: error: “type” is required. [malformed /sections/0/questions/0/type]")
    }

    @Test func malformedJSONIsReportedWithItsPlace() {
        #expect(
            Self.lines("{\n  \"key\": }").first == "f.json:2:10: error: Not JSON: unexpected character. [malformed ]")
    }

    /// Columns are those that an editor shows, also behind letters of several bytes.
    @Test func theMarkIsUnderTheCharacter() {
        #expect(
            Self.lines("{\n  \"title\": \"Skor för fötter\" \"key\": 1\n}") == [
                "f.json:2:30: error: Not JSON: unexpected character. [malformed ]",
                "    \"title\": \"Skor för fötter\" \"key\": 1",
                "                               ^",
                "1 error, 0 warnings",
            ])
    }

    /// As when it is imported, where the server counts the versions.
    @Test func aFileMayLeaveOutItsVersion() {
        let text = Self.text.replacing(", \"spare/part\": \"x\"", with: "").replacing("\"version\": 1, ", with: "")
        #expect(Self.lines(text).last?.hasPrefix("1 error, 1 warning") == true)
    }

    @Test func aDraftIsComparedWithPublishedVersionsIfKnown() throws {
        func lines(_ draft: JSONValue, after earlier: [JSONValue]?) throws -> [String] {
            try DefinitionCheck(
                CanonicalJSON.bytes(of: draft), today: testDay, earlier: earlier.map { try EarlierVersions($0) }
            ).lines(of: "f")
        }
        let (first, second) = (DerivedFromTests.first, DerivedFromTests.second)
        let third = first.setting("version", to: 3)
            .setting("sections.0.questions.0.options.0.key", to: "other")
            .setting("migrations", to: [["drop": ["question": "nothing"]]])
        let found = try lines(third, after: [first, second])
        #expect(found.count == 4 && found[0].contains("Only a question that is gone is dropped."))
        #expect(found[1].contains("An earlier version had another question with this key."))
        #expect(found[3] == "note: it was compared with the published versions, and would be version 3")
        let alone = try lines(third, after: nil)
        #expect(alone.count == 2 && alone[1].hasPrefix("note: no system runs here"))
        let named = first.setting("sections.0.questions.0.extract", to: ["profileField": "shoeSize"])
        #expect(try lines(named, after: nil).last?.contains("E18") == true)
        #expect(try lines(first, after: nil).count == 1 && lines(first, after: []).count == 1)
    }

    @Test func theJSONOutputHasTheSameProblems() {
        let check = DefinitionCheck(Array(Self.text.utf8), today: testDay)
        let finding = check.json["findings"]?.arrayValue?.first
        #expect(finding?["line"] == 4 && finding?["code"] == "E11" && finding?["keys"] == ["spare/part"])
        #expect(finding?["severity"] == "error" && check.json["longestPath"] == .null)
    }

    @Test func theShippedDefinitionIsClean() {
        let check = DefinitionCheck(EmbeddedFiles.Definitions.yoked_compat.bytes, today: testDay)
        #expect(check.findings.isEmpty && check.shortest == 25)
    }
}
