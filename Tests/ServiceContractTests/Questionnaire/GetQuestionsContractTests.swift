import BusProtocol
import EventLoop
import JSONText
import Testing

extension GetQuestions: MessageContract {
    static let session = Identifier("019c2f00-0000-7000-8000-000000000001")!
    static let reference = QuestionnaireReference(
        key: "yoked-compat", version: 1, hash: String(repeating: "0af9", count: 16), title: "What matters to you")

    static let canonical = GetQuestions()
    static let minimal = GetQuestions()
    static let maximal = GetQuestions()

    static let canonicalReply = QuestionsView(
        questionnaire: reference, sessionId: session, status: .inProgress,
        questions: [
            QuestionView(
                key: "smoking", slug: "smoking", section: "lifestyle", type: "single_choice",
                text: "Do you smoke or vape?", help: "You may keep this to yourself.", required: true,
                skippable: false, declinable: true, visible: true, presentation: "radio",
                options: [
                    QuestionOption(key: "never", label: "No", exclusive: false),
                    QuestionOption(key: "regularly", label: "Yes", exclusive: false),
                ]),
            slider,
        ],
        answers: [
            AnswerView(
                question: "smoking", state: .answered, value: "never", revision: 1,
                answeredAt: Timestamp("2026-02-20T09:00:00.125Z")!)
        ],
        progress: QuestionnaireProgress(answered: 1, total: 2, requiredRemaining: 0, percentage: 50),
        nextQuestion: "sleepRhythm")

    static let minimalReply = QuestionsView(
        questionnaire: reference, sessionId: session, status: .completed, questions: [], answers: [],
        progress: QuestionnaireProgress(answered: 0, total: 0, requiredRemaining: 0, percentage: 100),
        nextQuestion: nil)

    static let maximalReply = QuestionsView(
        questionnaire: reference, sessionId: session, status: .amended,
        questions: [
            QuestionView(
                key: "causes", slug: "causes", section: "values", type: "multi_choice", text: "Vad brinner du för? 🔥",
                help: "Upp till fem.", required: false, skippable: true, declinable: true, visible: true,
                presentation: "chips", default: ["nature", ["other": "Zoë’s ☕️"]], constraints: everyConstraint,
                options: [
                    QuestionOption(key: "nature", label: "Natur", exclusive: false),
                    QuestionOption(key: "none", label: "Inget särskilt", exclusive: true),
                ])
        ],
        answers: [
            AnswerView(
                question: "causes", state: .answered, value: ["nature", ["other": "Zoë’s ☕️"]], revision: 7,
                answeredAt: Timestamp("2026-02-20T09:00:00Z")!),
            AnswerView(
                question: "smoking", state: .declined, value: nil, revision: 2,
                answeredAt: Timestamp("2026-02-20T09:00:01Z")!),
        ],
        progress: QuestionnaireProgress(answered: 500, total: 500, requiredRemaining: 0, percentage: 100),
        nextQuestion: nil)

    static let errors = [BusError(.unauthorized, "Please sign in.")]

    private static var slider: QuestionView {
        var constraints = QuestionConstraints()
        (constraints.min, constraints.max, constraints.step) = (0, 10, 0.5)
        (constraints.minLabel, constraints.maxLabel) = ("Up with the sun", "Awake past midnight")
        return QuestionView(
            key: "sleepRhythm", section: "lifestyle", type: "slider", text: "Are you a lark or an owl?",
            required: false, skippable: true, declinable: false, visible: true, presentation: "slider", default: 5,
            constraints: constraints)
    }

    static var everyConstraint: QuestionConstraints {
        var all = QuestionConstraints()
        (all.min, all.max, all.step, all.topK) = (-0.125, 1e9, 0.001, 500)
        (all.minLength, all.maxLength, all.minAge, all.maxAge) = (0, 4096, 18, 120)
        (all.minLabel, all.maxLabel, all.pattern) = ("lågt", "högt", "person_name")
        (all.earliest, all.latest) = (CivilDate("0001-01-01"), CivilDate("9999-12-31"))
        all.other = OtherConstraint(maxCount: 2, maxLength: 80)
        return all
    }

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetQuestions> {
        Asked(GetQuestions(), for: .random())
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, GetQuestions>] = [
        "unauthorized": { _ in Asked(GetQuestions()) }
    ]
}

@Suite("questionnaire.get-questions") @Loop struct GetQuestionsContractTests {
    @Test func repeatedRequestsOpenOneSession() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let asked = Asked(GetQuestions(), for: .random())
            let first = try await questionnaire.reply(to: asked)
            #expect(first.questions.count == 25 && first.status == .inProgress && first.nextQuestion != nil)
            #expect(try await questionnaire.reply(to: asked) == first)
            #expect(try await questionnaire.stage.rows("SELECT count(*) FROM sessions") == "1")
        }
    }
}
