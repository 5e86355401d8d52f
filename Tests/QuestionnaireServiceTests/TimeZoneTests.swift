import BusProtocol
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import QuestionnaireService

/// Dates are judged by the person's own calendar.
@Suite("days of questionnaires") struct TimeZoneTests {
    private static func definition(asking type: String) -> JSONValue {
        Sample.definition([
            Sample.question("born", type, type == "date" ? ["constraints": ["minAge": 18]] : [:]),
            Sample.question("choice", "single_choice"),
        ])
    }

    /// A zone in which it is another date than by UTC, and that date.
    private static func elsewhere() throws -> (zone: PersonTimeZone, today: CivilDate) {
        let now = Timestamp.now()
        let zones = try ["Pacific/Kiritimati", "Etc/GMT+12"].map { try #require(PersonTimeZone($0)) }
        let zone = try #require(zones.first { $0.date(at: now) != now.date })
        return (zone, zone.date(at: now))
    }

    @Test func ageIsCountedInThePersonsTimeZone() async throws {
        try await withService(replicas: 2) { service in
            try await service.publish(Self.definition(asking: "date"))
            let (zone, there) = try Self.elsewhere()
            let utc = Timestamp.now().date
            // The person turns 18 on the later of the two dates. By the earlier date they are still 17.
            let later = max(there, utc)
            let birthday = later.month == 2 && later.day == 29 ? 28 : later.day
            let born = CivilDate(year: later.year - 18, month: later.month, day: birthday)!
            let answer = [ResponseItem(question: "born", value: .string(born.description))]
            service.profile.facts = ["timeZone": .string(zone.name)]
            let (near, far) = (Identifier.random(), Identifier.random())
            _ = try await service.questions(as: near)
            service.profile.facts = [:]
            _ = try await service.questions(as: far)
            #expect(service.profile.asked.map(\.fields) == [["timeZone"], ["timeZone"]])
            for (person, today) in [(near, there), (far, utc)] where later.day == birthday {
                if today == later {
                    try await service.submit(answer, as: person)
                } else {
                    let error = await #expect(throws: BusError.self) { try await service.submit(answer, as: person) }
                    #expect(error?.code == "validation_failed")
                }
            }
            #expect(
                try await service.rows("SELECT facts ->> 'timeZone' FROM sessions ORDER BY opened_at")
                    == "\(zone.name)\n")
        }
    }

    @Test func profileIsNotAskedForATimeZoneWithoutADate() async throws {
        try await withService { service in
            try await service.publish(Self.definition(asking: "text"))
            _ = try await service.questions(as: .random())
            #expect(service.profile.asked.isEmpty)
        }
    }
}
