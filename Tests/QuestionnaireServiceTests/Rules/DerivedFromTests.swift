import BusProtocol
import Cryptography
import Documents
import JSONText
import Testing

@testable import QuestionnaireService

/// Where a version says that it comes from.
@Suite("derivedFrom") struct DerivedFromTests {
    static let first = DefinitionParserTests.smallest
    static let second = first.setting("version", to: 2).setting("sections.0.questions.0.key", to: "other")

    /// The hash of the canonical text. These contents have no members of the life cycle that would be left out.
    static func hash(_ content: JSONValue) -> String { Hex.encode(SHA256.digest(CanonicalJSON.bytes(of: content))) }

    static func report(_ draft: JSONValue, after contents: [JSONValue]) throws -> VersionPlan.Report {
        VersionPlan.report(on: draft, of: "a-b", after: try EarlierVersions(contents), today: testDay)
    }

    static func origin(_ version: Int64, _ hash: String) -> JSONValue {
        first.setting("derivedFrom", to: ["version": .integer(version), "contentHash": .string(hash)])
    }

    @Test func isTrueOfAnEarlierVersionOnly() throws {
        func found(_ draft: JSONValue) throws -> [String] {
            try Self.report(draft, after: [Self.first]).problems.map { "\($0.code) \($0.pointer)" }
        }
        let hash = Self.hash(Self.first)
        #expect(try found(Self.origin(1, hash)) == [])
        #expect(try found(Self.origin(1, Self.hash(Self.second))) == ["E16 /derivedFrom/contentHash"])
        // The version that it becomes is not before it.
        #expect(try found(Self.origin(2, hash)) == ["E16 /derivedFrom/version"])
        #expect(try found(Self.first.setting("derivedFrom", to: .null)) == [])
        #expect(try Self.report(Self.origin(1, hash), after: []).problems.map(\.code) == ["E16"])
    }

    /// Without the other versions nothing can be said of it but its shape.
    @Test func theOfflineCheckAcceptsAnyWellFormedDerivedFrom() {
        let check = DefinitionCheck(
            CanonicalJSON.bytes(of: Self.origin(7, String(repeating: "0", count: 64))), today: testDay)
        #expect(check.errorCount == 0)
    }

    /// `lovedBy` showed "A helping hand" as its help: the label of its option `help`.
    @Test func aQuestionTextIsNoLabelOfAnOption() throws {
        for member in ["textKey", "helpKey"] {
            let draft = Self.first.setting("sections.0.questions.0.\(member)", to: "o").setting(
                "strings.en", to: member == "textKey" ? ["t": "Title", "o": "x"] : ["t": "Title", "q": "Q?", "o": "x"])
            let found = try Self.report(draft, after: []).problems
            #expect(found.map { "\($0.code) \($0.pointer)" } == ["E17 /sections/0/questions/0/options/0/labelKey"])
            #expect(found.first?.message.hasPrefix("“o” is also a text of a question.") == true)
            #expect(DefinitionParserTests.problems(draft) == [], "what was published with it stays readable")
            let later = draft.setting("version", to: 2)
            #expect(try Self.report(later, after: [draft]).problems == [], "and is published again to go back to it")
        }
    }

    /// To go back, an editor copies an older version. The copy may use its keys and names the version.
    @Test func aCopyNamesItsOriginalVersion() throws {
        let copy = DerivedFrom.copy(of: Self.first)
        #expect(copy["derivedFrom"] == ["version": 1, "contentHash": .string(Self.hash(Self.first))])
        #expect(try Self.report(copy, after: [Self.first, Self.second]).problems == [])
        let plan = try VersionPlan.make(
            copy, of: "a-b", after: try EarlierVersions([Self.first, Self.second]), today: testDay)
        #expect(plan.definition.version == 3)
        let published = try JSONValue.parse(plan.definition.canonicalText)
        #expect(published["derivedFrom"] == copy["derivedFrom"], "it is a part of what is hashed")
        #expect(DerivedFrom.copy(of: published)["derivedFrom"]?["version"] == 3)
    }
}
