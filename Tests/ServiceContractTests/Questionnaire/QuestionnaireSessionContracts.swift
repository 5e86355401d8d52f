import BusProtocol
import EventLoop
import JSONText
import Testing

/// Replies and errors that the contracts of sessions share.
enum QuestionnaireSessionSamples {
    static let subject = Identifier("019c2f00-0000-7000-8000-000000000006")!
    static let mutation = Identifier("019c2f00-0000-7000-8000-000000000007")!
    static let progress = QuestionnaireProgress(answered: 1, total: 25, requiredRemaining: 9, percentage: 4)
    static let done = QuestionnaireProgress(answered: 500, total: 500, requiredRemaining: 0, percentage: 100)
    static let next = NextQuestion(question: "coreValues", reason: "unanswered")
    static let fullNext = NextQuestion(
        question: "childName", subject: subject, reason: "subject_wanted",
        before: ["welcome", "aboutChild/\(subject)"])

    static let view = SessionView(
        id: Sample.session, status: .inProgress, questionnaire: GetQuestions.reference,
        answers: [
            AnswerView(
                question: "smoking", state: .answered, value: "never", revision: 1, answeredAt: Sample.everyday)
        ],
        subjects: [], asked: [AskedQuestion(question: "smoking", required: true)], progress: progress, next: next,
        lastCompleted: AnsweredPlace(question: "smoking"), openedAt: Sample.everyday)
    static let small = SessionView(
        id: Sample.session, status: .stopped, questionnaire: GetQuestions.reference, answers: [], subjects: [],
        asked: [], progress: GetQuestions.minimalReply.progress, next: nil, lastCompleted: nil,
        openedAt: Sample.earliest)
    static let full = SessionView(
        id: Sample.session, status: .amended, questionnaire: GetQuestions.reference,
        answers: [
            AnswerView(
                question: "childName", state: .answered, value: "Zoë 🐻", revision: Sample.largestInteger,
                answeredAt: Sample.latest, stale: true, subject: subject)
        ],
        subjects: [SubjectView(id: subject, kind: "child", label: "Zoë 🐻")],
        asked: [AskedQuestion(question: "childGoals", subject: subject, required: false, options: ["open_up"])],
        progress: done, next: fullNext, lastCompleted: AnsweredPlace(question: "childName", subject: subject),
        openedAt: Sample.earliest, completedAt: Sample.latest,
        result: SessionResult(
            number: 2, version: 1, hash: String(repeating: "0af9", count: 16), takenAt: Sample.latest,
            answers: ["childName/\(subject)": ["state": "answered", "value": "Zoë 🐻", "revision": 1]],
            scores: ["values": ["score": 57.083, "answered": 4, "of": 4]]), isNew: true)

    static let unknownSession = BusError(.notFound, "There is no such session.")
    static let invalid = BusError(
        .validationFailed, "Some answers cannot be saved as they are.",
        errors: [.init(field: "value", code: "unknown_option", message: "There is no such option.")])
    static let conflict = BusError(
        .answerConflict, "This answer was changed somewhere else in the meantime.",
        errors: [.init(field: "baseRevision", code: "answer_conflict", message: "The answer is at revision 2.")],
        details: ["current": ["revision": 2, "state": "answered", "value": "never"]])
    static let reused = BusError(
        .mutationIDReused, "This id was used for another write.",
        errors: [
            .init(field: "mutationId", code: "mutation_id_reused", message: "This id was used for another write.")
        ])
    static let closed = BusError(
        .versionClosed, "This version of the questionnaire is closed. Move the session to the newest one to go on.")
    static let stopped = BusError(
        .sessionStopped, "This session was stopped. Open a new one to answer the questions.")
    static let locked = BusError(
        .dateOfBirthLocked, "The date of birth cannot be changed. Please contact support.")
    static let underage = BusError(.underage, "You must be 18 to use Vestibule", details: ["eligibleOn": "2027-03-01"])
    static let incomplete = BusError(
        .questionnaireIncomplete, "Some questions still want an answer.",
        errors: [.init(field: "coreValues", code: "unanswered", message: "This question wants an answer.")],
        details: ["missing": [["question": "coreValues", "reason": "unanswered"]]])
}

extension OpenSession: MessageContract {
    static let canonical = OpenSession(questionnaire: "yoked-compat")
    static let minimal = OpenSession(questionnaire: "a")
    static let maximal = OpenSession(questionnaire: String(repeating: "a", count: 64), acceptLanguage: "sv, en;q=0.5")

    static let canonicalReply = QuestionnaireSessionSamples.view
    static let minimalReply = QuestionnaireSessionSamples.small
    static let maximalReply = QuestionnaireSessionSamples.full
    static let errors = [
        Sample.unauthorized, BusError(.notFound, "There is no such questionnaire."),
        BusError(
            .tooManySessions,
            "You have completed this questionnaire 16 times. Open one of them again to change your answers."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<OpenSession> {
        Asked(canonical, for: .random(), key: "key-\(Identifier.random())")
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, OpenSession>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { _ in Asked(OpenSession(questionnaire: "no-such"), for: .random()) },
        "too_many_sessions": { questionnaire in
            let person = Identifier.random()
            for _ in 0..<OpenSession.most {
                let open = try await questionnaire.reply(to: Asked(canonical, for: person))
                try await questionnaire.reply(
                    to: Asked(
                        SubmitResponses(
                            sessionId: open.id, answers: QuestionnaireProvider.required, complete: true), for: person))
            }
            return Asked(canonical, for: person)
        },
    ]
}

extension ListQuestionnaireSessions: MessageContract {
    static let canonical = ListQuestionnaireSessions(questionnaire: "yoked-compat")
    static let minimal = ListQuestionnaireSessions(questionnaire: "a")
    static let maximal = ListQuestionnaireSessions(questionnaire: String(repeating: "a", count: 64))

    static let canonicalReply = QuestionnaireSessionList(sessions: [
        SessionSummary(
            id: Sample.session, status: .inProgress, version: 1, hash: String(repeating: "0af9", count: 16),
            openedAt: Sample.everyday)
    ])
    static let minimalReply = QuestionnaireSessionList(sessions: [])
    static let maximalReply = QuestionnaireSessionList(sessions: [
        SessionSummary(
            id: Sample.session, status: .amended, version: 2_147_483_647, hash: String(repeating: "0af9", count: 16),
            openedAt: Sample.earliest, completedAt: Sample.latest)
    ])
    static let errors = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<ListQuestionnaireSessions> {
        Asked(canonical, for: try await questionnaire.session().person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, ListQuestionnaireSessions>] = [
        "unauthorized": { _ in Asked(canonical) }
    ]
}

extension GetSession: MessageContract {
    static let canonical = GetSession(questionnaire: "yoked-compat", sessionId: Sample.session)
    static let minimal = GetSession(questionnaire: "a", sessionId: Sample.session)
    static let maximal = GetSession(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session, acceptLanguage: "sv, en;q=0.5")

    static let canonicalReply = QuestionnaireSessionSamples.view
    static let minimalReply = QuestionnaireSessionSamples.small
    static let maximalReply = QuestionnaireSessionSamples.full
    static let errors = [Sample.unauthorized, QuestionnaireSessionSamples.unknownSession]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetSession> {
        let (session, person) = try await questionnaire.session()
        return Asked(GetSession(questionnaire: "yoked-compat", sessionId: session), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, GetSession>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { questionnaire in
            let stranger = try await questionnaire.session().session
            return Asked(GetSession(questionnaire: "yoked-compat", sessionId: stranger), for: .random())
        },
    ]
}

extension GetSessionScreens: MessageContract {
    static let canonical = GetSessionScreens(questionnaire: "yoked-compat", sessionId: Sample.session)
    static let minimal = GetSessionScreens(questionnaire: "a", sessionId: Sample.session)
    static let maximal = GetSessionScreens(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session, acceptLanguage: "sv, en;q=0.5")

    static let canonicalReply = SessionScreens(
        questionnaire: GetQuestions.reference, locale: "en", revision: 3, tag: DraftSamples.hash,
        screens: [
            Screen(
                key: "smoking", slug: "smoking", section: "lifestyle", title: "How you live",
                questions: [
                    ScreenQuestion(
                        key: "smoking", type: "single_choice", control: "radio", label: "Do you smoke or vape?",
                        required: true, skippable: false, declinable: true, declineLabel: "Prefer not to say",
                        options: [
                            QuestionOption(key: "never", label: "No", exclusive: false),
                            QuestionOption(key: "regularly", label: "Yes", exclusive: false),
                        ])
                ])
        ],
        answers: QuestionnaireSessionSamples.view.answers, subjects: [], progress: QuestionnaireSessionSamples.progress,
        next: QuestionnaireSessionSamples.next,
        review: [
            ReviewLine(screen: "smoking", label: "Do you smoke or vape?", state: .answered, texts: ["No"])
        ])
    static let minimalReply = SessionScreens(
        questionnaire: GetQuestions.reference, locale: "en", revision: 0, tag: DraftSamples.hash, screens: [],
        answers: [], subjects: [], progress: GetQuestions.minimalReply.progress, next: nil, review: [])
    static let maximalReply = SessionScreens(
        questionnaire: GetQuestions.reference, locale: "pt-BR", revision: Sample.largestInteger, tag: DraftSamples.hash,
        screens: [
            Screen(
                key: "childGoals/\(QuestionnaireSessionSamples.subject)", slug: "goals", section: "child",
                subject: QuestionnaireSessionSamples.subject, adds: "child", title: "Ditt barn 🐻",
                questions: [
                    ScreenQuestion(
                        key: "childGoals", subject: QuestionnaireSessionSamples.subject, type: "multi_choice",
                        control: "chips",
                        label: "Vad hoppas du på?", help: "Välj upp till tre.", required: false, skippable: true,
                        declinable: true, declineLabel: "Vill inte svara", default: ["open_up"],
                        constraints: GetQuestions.everyConstraint,
                        options: [QuestionOption(key: "open_up", label: "Att öppna sig", exclusive: true)])
                ])
        ],
        answers: QuestionnaireSessionSamples.full.answers, subjects: QuestionnaireSessionSamples.full.subjects,
        progress: QuestionnaireSessionSamples.done,
        next: QuestionnaireSessionSamples.fullNext,
        review: [
            ReviewLine(
                screen: "childGoals/\(QuestionnaireSessionSamples.subject)", label: "Vad hoppas du på?",
                state: .answered,
                texts: ["Att öppna sig", "Zoë 🐻"], stale: true)
        ])
    static let errors = [Sample.unauthorized, QuestionnaireSessionSamples.unknownSession]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetSessionScreens> {
        let (session, person) = try await questionnaire.session()
        return Asked(GetSessionScreens(questionnaire: "yoked-compat", sessionId: session), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, GetSessionScreens>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { questionnaire in
            let stranger = try await questionnaire.session().session
            return Asked(GetSessionScreens(questionnaire: "yoked-compat", sessionId: stranger), for: .random())
        },
    ]
}

extension CompleteSession: MessageContract {
    static let canonical = CompleteSession(questionnaire: "yoked-compat", sessionId: Sample.session)
    static let minimal = CompleteSession(questionnaire: "a", sessionId: Sample.session)
    static let maximal = CompleteSession(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session, acceptLanguage: "sv, en;q=0.5")

    static let canonicalReply = QuestionnaireSessionSamples.view
    static let minimalReply = QuestionnaireSessionSamples.small
    static let maximalReply = QuestionnaireSessionSamples.full
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession, QuestionnaireSessionSamples.incomplete,
        QuestionnaireSessionSamples.closed,
        QuestionnaireSessionSamples.stopped,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<CompleteSession> {
        let (session, person) = try await questionnaire.session(answers: QuestionnaireProvider.everything)
        return Asked(CompleteSession(questionnaire: "yoked-compat", sessionId: session), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, CompleteSession>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { _ in Asked(canonical, for: .random()) },
        "questionnaire_incomplete": { questionnaire in
            let (session, person) = try await questionnaire.session()
            return Asked(CompleteSession(questionnaire: "yoked-compat", sessionId: session), for: person)
        },
        "version_closed": { questionnaire in
            let (session, person) = try await questionnaire.closed()
            return Asked(CompleteSession(questionnaire: "family", sessionId: session), for: person)
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(CompleteSession(questionnaire: "yoked-compat", sessionId: session), for: person)
        },
    ]
}

extension ReopenSession: MessageContract {
    static let canonical = ReopenSession(questionnaire: "yoked-compat", sessionId: Sample.session)
    static let minimal = ReopenSession(questionnaire: "a", sessionId: Sample.session)
    static let maximal = ReopenSession(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session, acceptLanguage: "sv, en;q=0.5")

    static let canonicalReply = QuestionnaireSessionSamples.view
    static let minimalReply = QuestionnaireSessionSamples.small
    static let maximalReply = QuestionnaireSessionSamples.full
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession,
        BusError(.sessionAlreadyOpen, "Another session of this questionnaire is open."),
        QuestionnaireSessionSamples.stopped,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<ReopenSession> {
        let (session, person) = try await questionnaire.session(answers: QuestionnaireProvider.required, complete: true)
        return Asked(ReopenSession(questionnaire: "yoked-compat", sessionId: session), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, ReopenSession>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { _ in Asked(canonical, for: .random()) },
        "session_already_open": { questionnaire in
            let asked = try await everyday(questionnaire)
            let person = asked.options.actor?.userID
            try await questionnaire.reply(to: Asked(OpenSession.canonical, for: person))
            return asked
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(ReopenSession(questionnaire: "yoked-compat", sessionId: session), for: person)
        },
    ]
}

extension StopSession: MessageContract {
    static let canonical = StopSession(questionnaire: "yoked-compat", sessionId: Sample.session)
    static let minimal = StopSession(questionnaire: "a", sessionId: Sample.session)
    static let maximal = StopSession(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session, acceptLanguage: "sv, en;q=0.5")

    static let canonicalReply = QuestionnaireSessionSamples.view
    static let minimalReply = QuestionnaireSessionSamples.small
    static let maximalReply = QuestionnaireSessionSamples.full
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession,
        BusError(.sessionNotOpen, "This session was completed. Only an open session is stopped."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<StopSession> {
        let (session, person) = try await questionnaire.session(answers: QuestionnaireProvider.required)
        return Asked(StopSession(questionnaire: "yoked-compat", sessionId: session), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, StopSession>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { _ in Asked(canonical, for: .random()) },
        "session_not_open": { questionnaire in
            let (session, person) = try await questionnaire.session(
                answers: QuestionnaireProvider.required, complete: true)
            return Asked(StopSession(questionnaire: "yoked-compat", sessionId: session), for: person)
        },
    ]
}
