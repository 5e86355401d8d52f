import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// What the statistics of a version count.
@Suite("statistics of a version") @Loop struct StatisticsTests {
    @Test func agesFollowThePersonsOwnDay() throws {
        let definition = try DefinitionParserTests.parse(
            Sample.definition([
                Sample.question("born", "date"),
                Sample.question("adult", "boolean", ["visibleIf": [">=": [["age_years": "born"], 18]]]),
            ]))
        // At this moment it is 1 March in Kiritimati, and 28 February by UTC.
        let now = try #require(Timestamp("2026-02-28T20:00:00Z"))
        func isAskedAsAnAdult(_ zone: JSONValue) throws -> Bool {
            let sample = StatisticsStore.Sample(
                person: .random(), status: .inProgress,
                answers: Array(#"{"born": ["answered", "2008-03-01", false]}"#.utf8), subjects: nil,
                facts: CanonicalJSON.bytes(of: ["timeZone": zone]))
            let sheet = try AnswerSheet(
                sample, AnswerSealer(try KeyRing(contents: KeyRing.generate(id: "k1"))), of: definition, now: now)
            return sheet.visible.map(\.key).contains("adult")
        }
        #expect(try isAskedAsAnAdult("Pacific/Kiritimati"))
        #expect(try !isAskedAsAnAdult(.null))
    }

    @Test func onlyStatisticsNeedTheStandby() async throws {
        try await ConditionalServiceTests.run(
            asking: Sample.definition([Sample.question("plain", "text")]).setting("version", to: 4),
            environment: ["QUESTIONNAIRE_STATISTICS_HOST": "/nowhere"]
        ) { service in
            _ = try await service.gateway.call(OpenSession(questionnaire: "yoked-compat"), service.options(.random()))
            let admin = Actor(userID: .random(), sessionID: .ordered(), role: .admin)
            let refusal = await #expect(throws: BusError.self) {
                try await service.gateway.call(
                    GetStatistics(questionnaire: "yoked-compat", version: "4"),
                    CallOptions(timeout: .seconds(10), actor: admin))
            }
            #expect(refusal?.code == "service_unavailable")
        }
    }

    @Test func aPersonWithSeveralSessionsIsCountedOnce() async throws {
        try await ConditionalServiceTests.run(
            asking: Sample.definition([Sample.question("plain", "text")]).setting("version", to: 4)
        ) { service in
            // One person answers in 10 s, and another one in 90 s, four times.
            let (quick, slow) = (Identifier.random(), Identifier.random())
            for (person, rounds) in [(quick, 1), (slow, 4)] {
                for _ in 0..<rounds {
                    let session = try await service.gateway.call(
                        OpenSession(questionnaire: "yoked-compat"), service.options(person)
                    ).id
                    try await service.submit(
                        [ResponseItem(question: "plain", value: "Te")], session: session, as: person, key: nil)
                    _ = try await service.gateway.call(
                        StopSession(questionnaire: "yoked-compat", sessionId: session), service.options(person))
                }
            }
            _ = try await service.rows(
                "UPDATE answers SET took = CASE WHEN person_id = '\(quick)' THEN 10 ELSE 90 END RETURNING 1")
            let admin = Actor(userID: .random(), sessionID: .ordered(), role: .admin)
            let found = try await service.gateway.call(
                GetStatistics(questionnaire: "yoked-compat", version: "4"),
                CallOptions(timeout: .seconds(10), actor: admin))
            #expect(found.questions.map(\.medianSeconds) == [50])
            #expect(found.sessions == 5)
        }
    }
}
