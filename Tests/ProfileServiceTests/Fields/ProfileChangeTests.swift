import BusProtocol
import JSONText
import Testing

@testable import ProfileService

@Suite("changes of a profile") struct ProfileChangeTests {
    private static let today = CivilDate("2026-02-20")!

    private func record(_ fields: FieldStates = [:], born: String? = nil) -> ProfileRecord {
        let now = Timestamp("2026-02-20T09:00:00Z")!
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        (record.fields, record.dateOfBirth) = (fields, born.flatMap { CivilDate($0) })
        return record
    }

    private func change(_ given: [String: JSONValue], to record: ProfileRecord) -> ProfileChange {
        ProfileChange(given, to: record, .shipped, today: Self.today)
    }

    @Test func aChangeHoldsOnlyChangedFields() {
        let known = record([
            "city": .answered("Lund"), "bio": .answered("Hej"), "photo": .skipped(times: 1, last: .now()),
        ])
        let change = change(["city": "Lund", "bio": nil, "state": nil, "gender": "prefer_not_to_say"], to: known)
        #expect(change.states == ["bio": nil, "gender": .declined])
        #expect(change.problems.isEmpty && !change.isEmpty)
        #expect(self.change([:], to: known).isEmpty)
    }

    @Test func aChangeReportsAllProblemsAtOnce() {
        let change = change(
            ["bio": 7, "city": "prefer_not_to_say", "dateOfBirth": "never", "height": 70, "shoeSize": 43], to: record())
        #expect(change.problems.map(\.field) == ["bio", "city", "dateOfBirth", "height", "shoeSize"])
        #expect(
            change.problems.map(\.code) == ["wrong_type", "not_declinable", "malformed", "malformed", "unknown_member"])
    }

    @Test func aNameWithADotIsOneName() {
        let change = change(["shoe.size": 43], to: record())
        #expect(change.problems.map(\.field) == ["shoe.size"] && change.problems.map(\.place) == ["/shoe.size"])
    }

    @Test(
        "a height in feet and inches is one in inches",
        arguments: [
            (4, 0, 48, nil), (7, 11, 95, nil), (3, 11, nil, "too_small"), (8, 0, nil, "too_large"),
            (5, 12, nil, "too_large"), (5, -1, nil, "too_small"),
        ] as [(Int64, Int64, Int64?, String?)])
    func height(feet: Int64, inches: Int64, expected: Int64?, problem: String?) {
        let change = change(["height": ["feet": .integer(feet), "inches": .integer(inches)]], to: record())
        #expect(change.states["heightInches"] == expected.map { .some(.answered(.integer($0))) })
        #expect(change.problems.map(\.code) == (problem.map { [$0] } ?? []))
    }

    @Test func everyHeightGoesToInchesAndBack() {
        for total in Int64(48)...95 {
            let (feet, inches) = (total / 12, total % 12)
            #expect((4...7).contains(feet) && feet * 12 + inches == total)
            let given = change(["height": ["feet": .integer(feet), "inches": .integer(inches)]], to: record())
            #expect(given.states == ["heightInches": .answered(.integer(total))] && given.problems.isEmpty)
            #expect(change(["heightInches": .integer(total)], to: record()).states == given.states)
        }
        for feet in Int64(0)...10 {
            for inches in Int64(-1)...13 where !((4...7).contains(feet) && (0...11).contains(inches)) {
                let given = change(["height": ["feet": .integer(feet), "inches": .integer(inches)]], to: record())
                #expect(given.isEmpty && given.problems.map(\.field) == ["height"], "\(feet) feet \(inches)")
            }
        }
    }

    @Test func theSameHeightIsNoChange() {
        let known = record(["heightInches": .answered(70)])
        #expect(change(["height": ["feet": 5, "inches": 10]], to: known).isEmpty)
    }

    @Test func aHeightIsClearedInEitherWay() {
        let known = record(["heightInches": .answered(70)])
        for given in ["height", "heightInches"] {
            #expect(change([given: nil], to: known).states == ["heightInches": nil])
            #expect(change([given: nil], to: record()).isEmpty)
        }
    }

    @Test func aHeightIsGivenInOneWay() {
        let change = change(["height": ["feet": 5, "inches": 1], "heightInches": 61], to: record())
        #expect(change.problems.map(\.field) == ["height"])
    }

    @Test func theDateOfBirthIsSetOnce() {
        #expect(change(["dateOfBirth": "2000-02-29"], to: record()).dateOfBirth == CivilDate("2000-02-29"))
        let known = record(born: "2000-02-29")
        #expect(change(["dateOfBirth": "2000-02-29"], to: known).isEmpty)
        #expect(!change(["dateOfBirth": "2000-02-29"], to: known).isDateOfBirthLocked)
        #expect(change(["dateOfBirth": "2000-03-01"], to: known).isDateOfBirthLocked)
        #expect(change(["dateOfBirth": nil], to: known).isDateOfBirthLocked)
        #expect(change(["dateOfBirth": nil], to: record()).isEmpty)
    }

    @Test(
        "a date of birth is one of a living person",
        arguments: [
            ("2026-02-21", "too_large"), ("2026-02-20", nil), ("1905-02-21", nil), ("1905-02-20", "too_small"),
        ] as [(String, String?)])
    func living(born: String, problem: String?) {
        let change = change(["dateOfBirth": .string(born)], to: record())
        #expect(change.problems.map(\.code) == (problem.map { [$0] } ?? []))
    }

    @Test func theFirstNameIsTheDefaultDisplayName() {
        #expect(
            change(["firstName": "Zoë"], to: record()).states["displayName"] == .some(.answered("Zoë")))
        #expect(change(["firstName": "李"], to: record()).states["displayName"] == nil, "too short to be shown")
        let named = record(["displayName": .answered("Z.")])
        #expect(change(["firstName": "Zoë"], to: named).states["displayName"] == nil)
        #expect(
            change(["firstName": "Zoë", "displayName": "Zed"], to: record()).states["displayName"]
                == .some(.answered("Zed")))
    }
}
