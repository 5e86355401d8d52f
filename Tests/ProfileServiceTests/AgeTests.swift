import BusProtocol
import EventLoop
import Foundation
import JSONText
import ServiceRuntime
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
        #expect(Age.eligibleOn(born: born, minimum: 18) == adultOn)
    }

    @Test(
        "the day of coming of age",
        arguments: [
            ("2008-02-29", "2026-03-01"), ("2002-02-29", nil), ("2004-02-28", "2022-02-28"),
            ("2006-03-01", "2024-03-01"),
            // Nobody who was born on a leap day turns 18 in a leap year.
            ("1904-02-29", "1922-03-01"), ("2008-12-31", "2026-12-31"),
        ] as [(String, String?)])
    func eligible(born: String, expected: String?) {
        #expect(CivilDate(born).map { Age.eligibleOn(born: $0, minimum: 18) } == expected.flatMap { CivilDate($0) })
    }

    /// Compares with Foundation's calendar, at each hour of some days and around changes of the clock.
    @Test(
        "dates where the person is",
        arguments: [
            "Pacific/Kiritimati", "Pacific/Auckland", "Asia/Kathmandu", "Europe/Stockholm", "UTC", "Africa/Casablanca",
            "America/St_Johns", "America/New_York", "Pacific/Pago_Pago",
        ])
    func dates(zone name: String) throws {
        let zone = try #require(PersonTimeZone(name))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: name))
        for start in ["2026-02-28T00:00:00Z", "2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z", "2027-12-31T00:00:00Z"] {
            for minutes in stride(from: 0, to: 2 * 1440, by: 15) {
                let now = try #require(Timestamp(start)) + .seconds(minutes * 60)
                let moment = Date(timeIntervalSince1970: Double(now.microsecondsSinceEpoch) / 1_000_000)
                let parts = calendar.dateComponents([.year, .month, .day], from: moment)
                let expected = CivilDate(year: parts.year!, month: parts.month!, day: parts.day!)
                guard zone.date(at: now) == expected else {
                    Issue.record("\(now) in \(name): \(zone.date(at: now))")
                    return
                }
            }
        }
    }

    @Test(arguments: ["", "EST", "GMT+0530", "Foo/Bar", "europe/stockholm", "../../etc/passwd", "Europe/Stockholm "])
    func isNoTimeZone(name: String) { #expect(PersonTimeZone(name) == nil) }

    /// The two are 25 hours apart: at every moment it is another date in one of them.
    @Test func thePersonsOwnCalendarDecides() async throws {
        try await ProfileStage.run(environment: ["PROFILE_AGE_POLICY": "reject"]) { profile in
            let (ahead, behind) = (try #require(PersonTimeZone("Pacific/Kiritimati")), "Pacific/Pago_Pago")
            let there = ahead.date(at: .now())
            // On 29 February nobody turns 18: eighteen years earlier there was no such day.
            guard (there.month, there.day) != (2, 29) else { return }
            let born = try #require(CivilDate(year: there.year - 18, month: there.month, day: there.day))
            let underage = try await profile.refusal(
                of: UpdateMe(fields: ["dateOfBirth": .string(born.description), "timeZone": .string(behind)]))
            #expect(underage.code == "underage")
            let wrong = try await profile.refusal(of: UpdateMe(fields: ["timeZone": "Mars/Olympus", "bio": 1]))
            #expect(wrong.errors?.map(\.field) == ["bio", "timeZone"])
            let adult = try await profile.update([
                "dateOfBirth": .string(born.description), "timeZone": .string(ahead.name),
            ])
            #expect(adult.age == 18 && adult.timeZone == ahead.name && adult.ageGate == nil)
            #expect(try await profile.ask(GetPerson(personId: profile.person)).age == 18)
            let moved = try await profile.update(["timeZone": .string(behind)])
            #expect(
                moved.age == 17 && moved.onboardingStatus == "blocked" && moved.ageGate?.eligibleOn == born.in18Years)
            #expect(try await profile.refusal(of: GetPerson(personId: profile.person)).code == "not_found")
            #expect(moved.revision == adult.revision + 1)
            #expect(try await profile.update(["timeZone": .string(behind)]).revision == moved.revision)
            #expect(try await profile.update(["timeZone": .null]).timeZone == nil)
        }
    }

    @Test func aReviewerSeesTheApproximateAge() {
        let ages = [0, 17, 18, 24, 25, 34, 35, 44, 45, 54, 55, 64, 65, 150]
        let bands = ["under_18", "18-24", "25-34", "35-44", "45-54", "55-64", "65+"]
        #expect(ages.map { Age.band(of: $0) } == bands.flatMap { [$0, $0] })
    }
}

extension CivilDate {
    fileprivate var in18Years: CivilDate? { Age.eligibleOn(born: self, minimum: 18) }
}
