import BusProtocol
import Testing

@testable import ProfileService

@Suite("corrections of a date of birth") struct DateOfBirthCorrectionTests {
    private static let today = CivilDate("2026-02-20")!
    private static let setAt = Timestamp("2026-02-20T09:00:00Z")!

    private static func isAllowed(
        _ known: String?, to date: String, after seconds: Int64 = 60, minimum: Int? = 18, corrected: Bool = false,
        isNoted: Bool = true
    ) -> Bool {
        var record = ProfileRecord(personID: .random(), createdAt: setAt, updatedAt: setAt)
        record.dateOfBirth = known.flatMap { CivilDate($0) }
        record.dateOfBirthSetAt = isNoted ? setAt : nil
        record.isDateOfBirthCorrected = corrected
        let ages = minimum.map { [Plan.AgeRule(minimum: $0, refuses: false)] } ?? []
        return DateOfBirthCorrection(ages: ages, today: today, now: setAt + .seconds(seconds)).isAllowed(
            of: record, to: CivilDate(date)!)
    }

    @Test func onceWithinADay() {
        #expect(Self.isAllowed("1990-01-01", to: "1991-01-01"))
        #expect(Self.isAllowed("1990-01-01", to: "1991-01-01", after: 86_399))
        #expect(!Self.isAllowed("1990-01-01", to: "1991-01-01", after: 86_400))
        #expect(!Self.isAllowed("1990-01-01", to: "1991-01-01", corrected: true))
        #expect(!Self.isAllowed("1990-01-01", to: "1991-01-01", isNoted: false), "a date from before this was noted")
        #expect(!Self.isAllowed(nil, to: "1991-01-01"))
    }

    @Test func neverFromUnderAgeToOfAge() {
        #expect(!Self.isAllowed("2008-02-21", to: "2008-02-20"))
        #expect(Self.isAllowed("2008-02-21", to: "2010-02-20"), "still too young")
        #expect(Self.isAllowed("2008-02-20", to: "2008-02-21"), "of age to under age")
        #expect(Self.isAllowed("2008-02-21", to: "2008-02-20", minimum: nil), "no plan has an age rule")
        #expect(Self.isAllowed("2008-02-21", to: "2008-02-20", minimum: 13))
    }
}
