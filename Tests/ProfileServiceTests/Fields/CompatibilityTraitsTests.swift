import BusProtocol
import JSONText
import Testing

@testable import ProfileService

@Suite("what two people show each other") struct CompatibilityTraitsTests {
    private static func person(_ fields: [String: FieldState]) -> ProfileRecord {
        let now = Timestamp("2026-02-20T09:00:00Z")!
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        for (key, state) in fields { record.fields[key] = state }
        return record
    }

    @Test func heightsAreComparedWithEachOther() {
        func shown(_ first: Int64, _ second: Int64) -> WishedTraits? {
            let people = [first, second].map { Self.person(["heightInches": .answered(.integer($0))]) }
            return CompatibilityTraits.shown(people[0], people[1], .yoked).last
        }
        #expect(shown(66, 68) == WishedTraits(question: "preferredHeight", first: ["similar"], second: ["similar"]))
        #expect(shown(66, 69) == WishedTraits(question: "preferredHeight", first: ["shorter"], second: ["taller"]))
        #expect(shown(69, 66) == WishedTraits(question: "preferredHeight", first: ["taller"], second: ["shorter"]))
    }

    @Test(
        arguments: [
            .declined, .stale("slim"), .skipped(times: 1, last: Timestamp("2026-02-20T09:00:00Z")!), nil,
        ] as [FieldState?])
    func anUnansweredFieldShowsNoTrait(state: FieldState?) {
        let (first, second) = (
            Self.person(["bodyType": .answered("athletic"), "heightInches": .answered(66)]),
            Self.person(state.map { ["bodyType": $0] } ?? [:])
        )
        let shown = [
            WishedTraits(question: "preferredBuild", first: ["athletic"], second: []),
            WishedTraits(question: "preferredHeight", first: [], second: []),
        ]
        #expect(CompatibilityTraits.shown(first, second, .yoked) == shown)
        #expect(CompatibilityTraits.shown(first, second, .shipped("eko-family")).isEmpty)
    }

    @Test func peopleOfAnOlderVersionAreComparedByTheNewestOne() throws {
        var members = try #require(JSONValue.parse(EmbeddedFiles.Plans.yoked.bytes).objectValue)
        (members["version"], members["policy"]) = (2, nil)
        let older = try PlanParser.parse(PlanDocument(.object(members)), FieldLibrary.shipped.get().library)
        #expect(older.wishes.isEmpty && older.followed(beside: .yoked).wishes == Plan.yoked.wishes)
    }
}
