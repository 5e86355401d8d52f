import BusProtocol
import Foundation
import Testing

@testable import ProfileService

@Suite("ages") struct AgeTests {
    /// Every day of the years from 1896 to 2032, as Foundation counts them. 1900 is no leap year, 2000 is.
    private static let days: [CivilDate] = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        var day = DateComponents(calendar: calendar, year: 1896, month: 1, day: 1).date!
        let end = DateComponents(calendar: calendar, year: 2033, month: 1, day: 1).date!
        var days: [CivilDate] = []
        while day < end {
            let parts = calendar.dateComponents([.year, .month, .day], from: day)
            days.append(CivilDate(year: parts.year!, month: parts.month!, day: parts.day!)!)
            day = calendar.date(byAdding: .day, value: 1, to: day)!
        }
        return days
    }()

    @Test(
        "a life counted day by day",
        arguments: [
            "1896-02-29", "1904-02-29", "1999-12-31", "2000-01-01", "2000-02-28", "2000-02-29", "2000-03-01",
            "2004-02-29", "2007-02-28", "2007-03-01", "1983-07-04", "1972-10-31",
        ])
    func dayByDay(born text: String) throws {
        let born = try #require(CivilDate(text))
        let first = try #require(Self.days.firstIndex(of: born))
        var birthdays = 0
        var adultOn: CivilDate?
        for (index, day) in Self.days.enumerated() {
            guard index > first else {
                #expect(Age.years(born: born, on: day) == (index < first ? nil : 0))
                continue
            }
            let isBirthday =
                (day.month, day.day) == (born.month, born.day)
                || (born.month, born.day) == (2, 29) && !CivilDate.isLeap(day.year) && (day.month, day.day) == (3, 1)
            if isBirthday { birthdays += 1 }
            if birthdays == 18, adultOn == nil { adultOn = day }
            guard Age.years(born: born, on: day) == birthdays else {
                Issue.record(
                    "born \(born), on \(day): \(birthdays) years, not \(String(describing: Age.years(born: born, on: day)))"
                )
                return
            }
        }
        #expect(Age.eligibleOn(born: born) == adultOn)
    }

    @Test(
        "the day of coming of age",
        arguments: [
            ("2008-02-29", "2026-03-01"), ("2002-02-29", nil), ("2004-02-28", "2022-02-28"),
            ("2006-03-01", "2024-03-01"),
            // Born on a leap day and 18 in a leap year does not happen; 100 years on, it does.
            ("1904-02-29", "1922-03-01"), ("2008-12-31", "2026-12-31"),
        ] as [(String, String?)])
    func eligible(born: String, expected: String?) {
        #expect(CivilDate(born).map { Age.eligibleOn(born: $0) } == expected.flatMap { CivilDate($0) })
    }
}
