import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import Testing

enum SubmitResponsesContract: MessageContract {
    private static let session = GetQuestionsContract.session

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
    ]
}

@Suite("questionnaire.submit-responses") @Loop struct SubmitResponsesContractTests {
    private static let one = SubmitResponses(answers: [ResponseItem(question: "smoking", value: "never")])

    @Test(
        "the same message twice: one effect, the same reply", arguments: [nil, "gw-key", "a-client's-key"] as [String?])
    func twice(key: String?) async throws {
        try await QuestionnaireStage.run { stage in
            let request = SubmitResponses(answers: QuestionnaireStage.required, complete: true)
            let first = try await stage.ask(request, key: key)
            #expect(first.status == .completed && first.progress.requiredRemaining == 0)
            #expect(try await stage.ask(request, key: key) == first)
            #expect(try await stage.stage.rows("SELECT count(*) FROM answer_history") == "10")
            #expect(try await stage.stage.rows("SELECT count(*) FROM snapshots") == "1")
            #expect(try await stage.stage.rows("SELECT last FROM outbox_sequences") == "1")
        }
    }

    @Test func aClientsKeyIsToldToBeAReplay() async throws {
        try await QuestionnaireStage.run { stage in
            let body = try WireJSON.encode(Self.one)
            let first = try await stage.raw(SubmitResponses.self, body: body, key: "a-client's-key")
            let again = try await stage.raw(SubmitResponses.self, body: body, key: "a-client's-key")
            #expect(!first.isReplay && again.isReplay && first.body == again.body)
        }
    }

    @Test func aNewersMembersAreSkipped() async throws {
        try await QuestionnaireStage.run { stage in
            let body = #"{"answers":[{"question":"smoking","value":"never","x":1}],"y":{}}"#
            _ = try await stage.raw(SubmitResponses.self, body: Array(body.utf8))
            #expect(try await stage.ask(GetQuestions()).answers.map(\.question) == ["smoking"])
        }
    }

    @Test func aBodyOfTheWrongShapeIsRefusedWithItsPath() async throws {
        try await QuestionnaireStage.run { stage in
            let body = Array(#"{"answers":[{"question":"smoking","state":"maybe"},{"value":1}]}"#.utf8)
            let error = await #expect(throws: BusError.self) {
                try await stage.raw(SubmitResponses.self, body: body)
            }
            #expect(error?.code == "invalid_message" && error?.executed == .no)
            #expect(error?.errors?.map(\.field) == ["answers.0.state", "answers.1.question"])
        }
    }

    @Test func everyDeclaredErrorIsProvoked() async throws {
        try await QuestionnaireStage.run { stage in
            func refused(_ answers: [ResponseItem], session: Identifier? = nil, complete: Bool? = nil) async throws
                -> BusError
            {
                try await stage.refusal(
                    of: SubmitResponses(sessionId: session, answers: answers, complete: complete))
            }
            let mutation = Identifier.ordered()
            let smoking = ResponseItem(question: "smoking", value: "never", mutationId: mutation)
            var provoked = [try await stage.refusal(of: Self.one, signedIn: false)]
            provoked.append(try await refused([], session: .ordered()))
            provoked.append(try await refused([ResponseItem(question: "smoking", value: "yes")]))
            provoked.append(try await refused([smoking], complete: true))
            _ = try await stage.ask(
                SubmitResponses(answers: [ResponseItem(question: "smoking", value: "socially")]))
            _ = try await stage.ask(SubmitResponses(answers: [ResponseItem(question: "smoking", value: "never")]))
            provoked.append(
                try await refused([ResponseItem(question: "smoking", value: "stopping", baseRevision: 2)]))
            provoked.append(
                try await refused([ResponseItem(question: "drinking", value: "never", mutationId: mutation)]))
            #expect(provoked.map(\.code) == SubmitResponses.rules.errors.map(\.name))
            #expect(provoked.map(\.executed) == SubmitResponsesContract.errors.map(\.executed))
            // Word for word as the samples say, but for those that list what this session has.
            for index in [0, 1, 2, 5] { #expect(provoked[index] == SubmitResponsesContract.errors[index]) }
            #expect(provoked[3].details?["missing"]?.arrayValue?.count == 9)
            #expect(provoked[4].details?["current"]?.arrayValue?.first?["revision"] == 3)
        }
    }

    @Test func onlyTheGatewayIsAnswered() async throws {
        try await QuestionnaireStage.run { try await $0.refusesStrangers(Self.one) }
    }
}
