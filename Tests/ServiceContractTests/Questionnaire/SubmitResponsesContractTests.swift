import BusProtocol
import EventLoop
import JSONText
import Testing

@testable import QuestionnaireService

extension SubmitResponses: MessageContract {
    private static let session = GetQuestions.session

    static let canonical = SubmitResponses(
        sessionId: session,
        answers: [
            ResponseItem(question: "smoking", value: "never"),
            ResponseItem(question: "causes", state: .skipped),
        ])
    static let minimal = SubmitResponses(answers: [])
    static let maximal = SubmitResponses(
        sessionId: session,
        answers: [
            ResponseItem(
                question: "causes", subject: Identifier("019c2f00-0000-7000-8000-000000000002")!,
                value: ["nature", ["other": "Zoë’s ☕️"]], state: .answered,
                mutationId: Identifier("019c2f00-0000-7000-8000-000000000003")!, baseRevision: 7,
                clientTime: Timestamp("2026-02-20T09:00:00.125Z")!)
        ], complete: true)

    static let canonicalReply = ResponsesSubmitted(
        sessionId: session, status: .inProgress,
        progress: QuestionnaireProgress(answered: 2, total: 25, requiredRemaining: 9, percentage: 8),
        nextQuestion: "relationshipGoal",
        answers: [AnswerRevision(question: "smoking", revision: 1), AnswerRevision(question: "causes", revision: 1)])
    static let minimalReply = ResponsesSubmitted(
        sessionId: session, status: .completed,
        progress: QuestionnaireProgress(answered: 0, total: 0, requiredRemaining: 0, percentage: 100),
        nextQuestion: nil, answers: [])
    static let maximalReply = ResponsesSubmitted(
        sessionId: session, status: .amended,
        progress: QuestionnaireProgress(answered: 499, total: 500, requiredRemaining: 1, percentage: 99),
        nextQuestion: String(repeating: "q", count: 64),
        answers: [AnswerRevision(question: "causes", revision: 9_007_199_254_740_991)])

    static let errors = [
        BusError(.unauthorized, "Please sign in."),
        BusError(.notFound, "There is no such session."),
        BusError(
            .validationFailed, "Some answers cannot be saved as they are.",
            errors: [.init(field: "answers.0.value", code: "unknown_option", message: "There is no such option.")]),
        BusError(
            .questionnaireIncomplete, "Some questions still want an answer.", executed: .yes,
            errors: [.init(field: "smoking", code: "unanswered", message: "This question wants an answer.")],
            details: ["missing": [["question": "smoking", "reason": "unanswered"]]]),
        BusError(
            .answerConflict, "This answer was changed somewhere else in the meantime.",
            errors: [
                .init(
                    field: "answers.0.baseRevision", code: "answer_conflict", message: "The answer is at revision 2.")
            ],
            details: [
                "current": [["question": "smoking", "revision": 2, "state": "answered", "value": "never"]]
            ]),
        BusError(
            .mutationIDReused, "This id was used for another write.",
            errors: [
                .init(
                    field: "answers.0.mutationId", code: "mutation_id_reused",
                    message: "This id was used for another write.")
            ]),
        QuestionnaireSessionSamples.closed, QuestionnaireSessionSamples.stopped, QuestionnaireSessionSamples.locked,
        QuestionnaireSessionSamples.underage,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<SubmitResponses> {
        questionnaire.item(ResponseItem(question: "smoking", value: "never"))
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, SubmitResponses>] = [
        "unauthorized": { _ in Asked(SubmitResponses(answers: [])) },
        "not_found": { _ in Asked(SubmitResponses(sessionId: .ordered(), answers: []), for: .random()) },
        "validation_failed": { $0.item(ResponseItem(question: "smoking", value: "yes")) },
        "questionnaire_incomplete": { _ in
            Asked(
                SubmitResponses(answers: [ResponseItem(question: "smoking", value: "never")], complete: true),
                for: .random())
        },
        "answer_conflict": { questionnaire in
            let person = Identifier.random()
            for value in ["never", "socially"] as [JSONValue] {
                try await questionnaire.reply(
                    to: questionnaire.item(ResponseItem(question: "smoking", value: value), for: person))
            }
            return questionnaire.item(
                ResponseItem(question: "smoking", value: "stopping", baseRevision: 1), for: person)
        },
        "mutation_id_reused": { questionnaire in
            let (person, mutation) = (Identifier.random(), Identifier.ordered())
            try await questionnaire.reply(
                to: questionnaire.item(
                    ResponseItem(question: "smoking", value: "never", mutationId: mutation), for: person))
            return questionnaire.item(
                ResponseItem(question: "drinking", value: "never", mutationId: mutation), for: person)
        },
        "version_closed": { questionnaire in
            let shipped = try JSONValue.parse(
                QuestionnaireServiceDefinition.definitions[0], limits: DefinitionParser.limits)
            let (_, person) = try await questionnaire.closed(shipped, then: shipped, of: "yoked-compat")
            return questionnaire.item(ResponseItem(question: "smoking", value: "never"), for: person)
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(
                SubmitResponses(sessionId: session, answers: [ResponseItem(question: "smoking", value: "never")]),
                for: person)
        },
        "date_of_birth_locked": { try await born("1994-02-27", $0) },
        "underage": { try await born("2020-03-01", $0) },
    ]

    /// An operator may ask for the date of birth in the compatibility questionnaire.
    @Loop private static func born(
        _ date: JSONValue, _ questionnaire: QuestionnaireProvider
    ) async throws -> Asked<SubmitResponses> {
        let shipped = try JSONValue.parse(
            QuestionnaireServiceDefinition.definitions[0], limits: DefinitionParser.limits)
        let question: JSONValue = [
            "key": "born", "type": "date", "textKey": "q.smoking", "extract": ["profileField": "dateOfBirth"],
        ]
        var members = shipped.objectValue ?? [:]
        members["sections"] = .array(
            (shipped["sections"]?.arrayValue ?? []) + [["key": "birthday", "questions": [question]]])
        members["version"] = 9
        let definition = try DefinitionParser.parse(CanonicalJSON.bytes(of: .object(members)))
        _ = try await DefinitionImport(
            database: questionnaire.stage.containers[0].database, definition: definition
        ).run()
        let person = Identifier.random()
        try await questionnaire.reply(to: Asked(GetQuestions(), for: person))
        return questionnaire.item(ResponseItem(question: "born", value: date), for: person)
    }
}

@Suite("questionnaire.submit-responses") @Loop struct SubmitResponsesContractTests {
    @Test("with any key or none, completed once", arguments: [nil, "gw key", "a-client's-key"] as [String?])
    func twice(key: String?) async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let request = SubmitResponses(answers: QuestionnaireProvider.required, complete: true)
            let asked = Asked(request, for: .random(), key: key)
            let first = try await questionnaire.reply(to: asked)
            #expect(first.status == .completed && first.progress.requiredRemaining == 0)
            #expect(try await questionnaire.reply(to: asked) == first)
            #expect(try await questionnaire.stage.rows("SELECT count(*) FROM answer_history") == "10")
            #expect(try await questionnaire.stage.rows("SELECT count(*) FROM snapshots") == "1")
            #expect(try await questionnaire.stage.rows("SELECT last FROM outbox_sequences") == "2")
        }
    }

    @Test func aRepeatedClientKeyIsMarkedAsAReplay() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let asked = questionnaire.item(ResponseItem(question: "smoking", value: "never"))
            let body = try WireJSON.encode(asked.message)
            let first = try await questionnaire.raw(asked, body: body)
            let again = try await questionnaire.raw(asked, body: body)
            #expect(!first.isReplay && again.isReplay && first.body == again.body)
        }
    }
}
