import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport

@testable import ProfileService
@testable import QuestionnaireService

/// The real questionnaire service, with the shipped definition.
@Loop struct QuestionnaireProvider: Provider {
    let stage: ServiceStage
    /// The events that profile receives when sessions are opened.
    let opened: EventRecorder<SessionOpened>

    /// One answer to each required question.
    nonisolated static let required: [ResponseItem] = [
        ResponseItem(question: "relationshipGoal", value: "long_term"),
        ResponseItem(question: "coreValues", value: ["kindness", "honesty", "growth"]),
        ResponseItem(question: "familyPlans", state: .declined),
        ResponseItem(question: "sharedDecisions", value: 7),
        ResponseItem(question: "weekendRhythm", value: "outdoors"),
        ResponseItem(question: "socialEnergy", value: 4),
        ResponseItem(question: "smoking", value: "never"),
        ResponseItem(question: "conflictStyle", value: "talk_later"),
        ResponseItem(question: "keepingInTouch", value: 5),
        ResponseItem(question: "lovedBy", value: ["time", "touch", "words", "help", "gifts"]),
    ]

    /// The answers of ``required``, with all other questions skipped.
    nonisolated static let everything: [ResponseItem] =
        required
        + [
            "moneyOutlook", "faithInDailyLife", "causes", "drinking", "hobbies",
            "sleepRhythm", "badDaySupport", "talkTopics", "directness", "preferredBuild",
            "preferredHeight", "preferredHair", "preferredFacialHair", "preferredStyle", "preferredDetails",
        ].map { ResponseItem(question: $0, state: .skipped) }

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (QuestionnaireProvider) async throws -> Void
    ) async throws {
        try await run(toldTo: EventRecorder<SessionCompleted>(), EventRecorder<SessionAmended>(), body: body)
    }

    /// - Parameter profile: receives the other events, beside ``opened``.
    nonisolated static func run<each Handler: RequestHandler>(
        toldTo profile: repeat each Handler,
        body: @escaping @Loop @Sendable (QuestionnaireProvider) async throws -> Void
    ) async throws {
        try await ServiceStage.run(QuestionnaireServiceDefinition.definition) { stage in
            let opened = EventRecorder<SessionOpened>()
            let fields = FieldLibraryReader(catalogue: try FieldLibrary.shipped.get().catalogue)
            try stage.answering(
                as: .profile, opened, fields, AnswerJudge(), EventRecorder<ProfileAnswersChanged>(),
                repeat each profile)
            while try await stage.rows("SELECT count(*) FROM definitions")
                != String(QuestionnaireServiceDefinition.definitions.count)
            {
                try await Loop.sleep(for: .milliseconds(5))
            }
            try await body(QuestionnaireProvider(stage: stage, opened: opened))
        }
    }

    /// A request with one item, for a new person.
    func item(_ item: ResponseItem, for person: Identifier = .random()) -> Asked<SubmitResponses> {
        Asked(SubmitResponses(answers: [item]), for: person, key: "key-\(Identifier.random())")
    }

    /// An open session of a new person.
    func session(
        answers: [ResponseItem] = [], complete: Bool? = nil
    ) async throws -> (session: Identifier, person: Identifier) {
        let person = Identifier.random()
        let view = try await reply(to: Asked(OpenSession(questionnaire: "yoked-compat"), for: person))
        if !answers.isEmpty {
            try await reply(
                to: Asked(
                    SubmitResponses(sessionId: view.id, answers: answers, complete: complete), for: person, key: "gw 1")
            )
        }
        return (view.id, person)
    }

    func stopped() async throws -> (session: Identifier, person: Identifier) {
        let (session, person) = try await session()
        try await reply(to: Asked(StopSession(questionnaire: "yoked-compat", sessionId: session), for: person))
        return (session, person)
    }

    /// An open session of a questionnaire with a section that repeats.
    func family(children: Int) async throws -> (session: Identifier, person: Identifier) {
        let definition = try DefinitionParser.parse(CanonicalJSON.bytes(of: Self.family))
        _ = try await DefinitionImport(database: stage.containers[0].database, definition: definition).run()
        let person = Identifier.random()
        let view = try await reply(to: Asked(OpenSession(questionnaire: "family"), for: person))
        for number in 0..<children {
            try await reply(
                to: Asked(
                    PutSubject(
                        questionnaire: "family", sessionId: view.id, subject: .ordered(), label: "Child \(number)"),
                    for: person))
        }
        return (view.id, person)
    }

    /// A person with an open session that asks for the date of birth.
    func birthday(_ answer: JSONValue? = nil) async throws -> (session: Identifier, person: Identifier) {
        let definition = try DefinitionParser.parse(CanonicalJSON.bytes(of: Self.birthdays))
        _ = try await DefinitionImport(database: stage.containers[0].database, definition: definition).run()
        let person = Identifier.random()
        let view = try await reply(to: Asked(OpenSession(questionnaire: "birthdays"), for: person))
        guard let answer else { return (view.id, person) }
        try await reply(
            to: Asked(
                PutAnswer(
                    questionnaire: "birthdays", sessionId: view.id, question: "born", mutationId: .ordered(),
                    state: .answered, value: answer), for: person))
        return (view.id, person)
    }

    nonisolated static let birthdays: JSONValue = [
        "key": "birthdays", "version": 1, "titleKey": "q", "locales": ["en"], "defaultLocale": "en",
        "strings": ["en": ["q": "A text"]],
        "sections": [
            [
                "key": "me",
                "questions": [
                    ["key": "born", "type": "date", "textKey": "q", "extract": ["profileField": "dateOfBirth"]]
                ],
            ]
        ],
    ]

    nonisolated static let family: JSONValue = [
        "key": "family", "version": 1, "titleKey": "q", "locales": ["en"], "defaultLocale": "en",
        "strings": ["en": ["q": "A text"]],
        "sections": [
            [
                "key": "children", "repeat": ["subject": "child", "min": 1, "max": 3, "label": "childName"],
                "questions": [
                    ["key": "childName", "type": "text", "textKey": "q", "required": true],
                    ["key": "childBirthday", "type": "date", "textKey": "q", "required": true],
                ],
            ]
        ],
    ]
}

/// Judges answers in place of profile: one date of birth is locked, and another is that of a child.
private struct AnswerJudge: RequestHandler {
    func handle(_ request: JudgeAnswers, context: RequestContext) async throws -> AnswersJudged {
        let refused = request.answers.enumerated().compactMap { index, answer -> RefusedAnswer? in
            switch answer.value {
            case "1994-02-27", .null:
                RefusedAnswer(
                    index: Int64(index), code: "date_of_birth_locked",
                    detail: "The date of birth cannot be changed. Please contact support.")
            case "2020-03-01":
                RefusedAnswer(
                    index: Int64(index), code: "underage", detail: "You must be 18 to use Vestibule",
                    eligibleOn: CivilDate("2038-03-01"))
            default: nil
            }
        }
        return AnswersJudged(refused: refused, judgedAt: .now())
    }
}

/// Answers with the fields of the shipped library, as profile answers questionnaire.
private struct FieldLibraryReader: RequestHandler {
    let catalogue: FieldCatalogue

    func handle(_ request: GetProfileFields, context: RequestContext) async throws -> ProfileFields {
        guard let view = catalogue.view(for: nil) else { throw BusError(.notFound, "There is no catalogue.") }
        return view
    }
}
