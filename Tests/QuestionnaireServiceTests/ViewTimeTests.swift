import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("the time of a view") struct ViewTimeTests {
    private static let types = [
        "boolean", "single_choice", "multi_choice", "slider", "text", "date", "number", "ranking",
    ]
    /// 200 questions of all types in ten sections. Every fourth question has a condition.
    private static let json: JSONValue = {
        let questions = (0..<200).map { number in
            Sample.question(
                "q\(number)", types[number % types.count], options: (0..<6).map { "o\($0)" },
                number % 4 == 3
                    ? ["skippable": true, "visibleIf": ["!=": [["var": "q0"], false]]] : ["skippable": true])
        }
        return Sample.definition(
            sections: stride(from: 0, to: 200, by: 20).map {
                Sample.section("s\($0)", Array(questions[$0..<$0 + 20]))
            })
    }()

    private static func value(_ type: String) -> JSONValue {
        switch type {
        case "boolean": true
        case "single_choice": "o1"
        case "multi_choice": ["o1", "o2"]
        case "slider", "number": 2
        case "date": "1990-02-28"
        case "ranking": .array((0..<6).map { .string("o\($0)") })
        default: "Åsa"
        }
    }

    /// Over the bus, with the tables asked for the revision each time. Of 200 readings, two may take longer.
    @Test(.timed) func aViewOf200QuestionsIsReadIn25Milliseconds() async throws {
        try await ConditionalServiceTests.run(asking: Self.json) { service in
            let person = Identifier.random()
            let session = try await service.gateway.call(
                OpenSession(questionnaire: "yoked-compat"), service.options(person)
            ).id
            let answers = (0..<200).map { number in
                ResponseItem(question: "q\(number)", value: Self.value(Self.types[number % Self.types.count]))
            }
            for page in stride(from: 0, to: 200, by: 50) {
                try await service.submit(
                    Array(answers[page..<page + 50]), session: session, as: person, key: "gw \(page)")
            }
            // As the gateway asks, which reads no body.
            let request = GetSessionScreens(questionnaire: "yoked-compat", sessionId: session).jsonBytes
            var times: [Duration] = []
            for _ in 0..<200 {
                let began = MonotonicClock.now()
                let reply = try await service.gateway.callRaw(
                    type: GetSessionScreens.type, version: 1, rules: GetSessionScreens.rules, body: request,
                    service.options(person))
                times.append(.nanoseconds(Int64(MonotonicClock.now() - began)))
                guard times.count == 1 else { continue }
                let view = try JSONValue.parse(reply.body, limits: DefinitionParser.limits)
                #expect(view["screens"]?.arrayValue?.count == 200 && view["next"] == .null)
            }
            times.sort()
            #expect(times[197] <= .milliseconds(25), .time("\(times[197])"))
        }
    }
}
