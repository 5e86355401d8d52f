import BusProtocol
import EventLoop
import JSONText
import Testing

extension PutAnswer: MessageContract {
    static let canonical = PutAnswer(
        questionnaire: "yoked-compat", sessionId: Sample.session, question: "smoking",
        mutationId: QuestionnaireSessionSamples.mutation, baseRevision: 1, state: .answered, value: "never")
    static let minimal = PutAnswer(
        questionnaire: "a", sessionId: Sample.session, question: "a", mutationId: QuestionnaireSessionSamples.mutation,
        state: .acknowledged)
    static let maximal = PutAnswer(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session,
        question: String(repeating: "a", count: 64), subject: QuestionnaireSessionSamples.subject,
        mutationId: QuestionnaireSessionSamples.mutation, baseRevision: Sample.largestInteger, state: .answered,
        value: ["nature", ["other": "Zoë’s ☕️"]], clientTime: Sample.latest)

    static let canonicalReply = AnswerSaved(
        revision: 2, progress: QuestionnaireSessionSamples.progress, next: QuestionnaireSessionSamples.next)
    static let minimalReply = AnswerSaved(revision: 0, progress: QuestionnaireSessionSamples.done, next: nil)
    static let maximalReply = AnswerSaved(
        revision: Sample.largestInteger, progress: QuestionnaireSessionSamples.done,
        next: QuestionnaireSessionSamples.fullNext,
        shown: ["menstrualCycle"], hidden: ["childName/\(QuestionnaireSessionSamples.subject)"], stale: ["goals"])
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession, QuestionnaireSessionSamples.invalid,
        QuestionnaireSessionSamples.conflict,
        QuestionnaireSessionSamples.reused, QuestionnaireSessionSamples.closed, QuestionnaireSessionSamples.stopped,
        QuestionnaireSessionSamples.locked,
        QuestionnaireSessionSamples.underage,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func put(
        _ session: Identifier, _ value: JSONValue, question: String = "smoking", mutation: Identifier = .ordered(),
        base: Int64? = nil
    ) -> PutAnswer {
        PutAnswer(
            questionnaire: "yoked-compat", sessionId: session, question: question, mutationId: mutation,
            baseRevision: base, state: .answered, value: value)
    }

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<PutAnswer> {
        let (session, person) = try await questionnaire.session()
        return Asked(put(session, "never"), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, PutAnswer>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { questionnaire in
            Asked(put(try await questionnaire.session().session, "never"), for: .random())
        },
        "validation_failed": { questionnaire in
            let (session, person) = try await questionnaire.session()
            return Asked(put(session, "certainly"), for: person)
        },
        "answer_conflict": { questionnaire in
            let (session, person) = try await questionnaire.session()
            for value in ["never", "socially"] as [JSONValue] {
                try await questionnaire.reply(to: Asked(put(session, value), for: person))
            }
            return Asked(put(session, "stopping", base: 1), for: person)
        },
        "mutation_id_reused": { questionnaire in
            let (session, person) = try await questionnaire.session()
            let mutation = Identifier.ordered()
            try await questionnaire.reply(to: Asked(put(session, "never", mutation: mutation), for: person))
            return Asked(put(session, "regularly", mutation: mutation), for: person)
        },
        "version_closed": { questionnaire in
            let (session, person) = try await questionnaire.closed()
            return Asked(
                PutAnswer(
                    questionnaire: "family", sessionId: session, question: "homeTown", mutationId: .ordered(),
                    state: .answered, value: "Umeå"), for: person)
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(
                PutAnswer(
                    questionnaire: "yoked-compat", sessionId: session, question: "smoking", mutationId: .ordered(),
                    state: .answered, value: "never"), for: person)
        },
        "date_of_birth_locked": { try await born("1994-02-27", $0) },
        "underage": { try await born("2020-03-01", $0) },
    ]

    @Loop private static func born(_ date: JSONValue, _ questionnaire: QuestionnaireProvider) async throws -> Asked<
        PutAnswer
    > {
        let (session, person) = try await questionnaire.birthday()
        return Asked(
            PutAnswer(
                questionnaire: "birthdays", sessionId: session, question: "born", mutationId: .ordered(),
                state: .answered, value: date), for: person)
    }
}

extension DeleteAnswer: MessageContract {
    static let canonical = DeleteAnswer(
        questionnaire: "yoked-compat", sessionId: Sample.session, question: "smoking",
        mutationId: QuestionnaireSessionSamples.mutation, baseRevision: 1)
    static let minimal = DeleteAnswer(questionnaire: "a", sessionId: Sample.session, question: "a")
    static let maximal = DeleteAnswer(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session,
        question: String(repeating: "a", count: 64), subject: QuestionnaireSessionSamples.subject,
        mutationId: QuestionnaireSessionSamples.mutation, baseRevision: Sample.largestInteger, clientTime: Sample.latest
    )

    static let canonicalReply = PutAnswer.canonicalReply
    static let minimalReply = PutAnswer.minimalReply
    static let maximalReply = PutAnswer.maximalReply
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession,
        BusError(
            .validationFailed, "Some answers cannot be saved as they are.",
            errors: [.init(field: "question", code: "unknown_question", message: "There is no such question.")]),
        QuestionnaireSessionSamples.conflict, QuestionnaireSessionSamples.reused, QuestionnaireSessionSamples.closed,
        QuestionnaireSessionSamples.stopped,
        QuestionnaireSessionSamples.locked,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func answered(_ questionnaire: QuestionnaireProvider) async throws -> (Identifier, Identifier) {
        let (session, person) = try await questionnaire.session()
        for value in ["never", "socially"] as [JSONValue] {
            try await questionnaire.reply(to: Asked(PutAnswer.put(session, value), for: person))
        }
        return (session, person)
    }

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<DeleteAnswer> {
        let (session, person) = try await answered(questionnaire)
        return Asked(
            DeleteAnswer(
                questionnaire: "yoked-compat", sessionId: session, question: "smoking", mutationId: .ordered(),
                baseRevision: 2), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, DeleteAnswer>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { _ in Asked(canonical, for: .random()) },
        "validation_failed": { questionnaire in
            let (session, person) = try await questionnaire.session()
            return Asked(
                DeleteAnswer(questionnaire: "yoked-compat", sessionId: session, question: "noSuch"), for: person)
        },
        "answer_conflict": { questionnaire in
            let (session, person) = try await answered(questionnaire)
            return Asked(
                DeleteAnswer(
                    questionnaire: "yoked-compat", sessionId: session, question: "smoking", baseRevision: 1),
                for: person)
        },
        "mutation_id_reused": { questionnaire in
            let (session, person) = try await questionnaire.session()
            let mutation = Identifier.ordered()
            try await questionnaire.reply(
                to: Asked(PutAnswer.put(session, "never", mutation: mutation), for: person))
            return Asked(
                DeleteAnswer(
                    questionnaire: "yoked-compat", sessionId: session, question: "smoking", mutationId: mutation),
                for: person)
        },
        "version_closed": { questionnaire in
            let (session, person) = try await questionnaire.closed()
            return Asked(
                DeleteAnswer(
                    questionnaire: "family", sessionId: session, question: "homeTown", mutationId: .ordered()),
                for: person)
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(
                DeleteAnswer(
                    questionnaire: "yoked-compat", sessionId: session, question: "smoking", mutationId: .ordered()),
                for: person)
        },
        "date_of_birth_locked": { questionnaire in
            let (session, person) = try await questionnaire.birthday("1990-02-28")
            return Asked(
                DeleteAnswer(questionnaire: "birthdays", sessionId: session, question: "born"), for: person)
        },
    ]
}

extension PutAnswers: MessageContract {
    static let canonical = PutAnswers(
        questionnaire: "yoked-compat", sessionId: Sample.session,
        answers: [
            QueuedAnswer(
                question: "smoking", mutationId: QuestionnaireSessionSamples.mutation, state: .answered, value: "never")
        ])
    static let minimal = PutAnswers(
        questionnaire: "a", sessionId: Sample.session,
        answers: [QueuedAnswer(question: "a", mutationId: QuestionnaireSessionSamples.mutation, state: .unanswered)])
    static let maximal = PutAnswers(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session,
        answers: [
            QueuedAnswer(
                question: String(repeating: "a", count: 64), subject: QuestionnaireSessionSamples.subject,
                mutationId: QuestionnaireSessionSamples.mutation, baseRevision: Sample.largestInteger, state: .answered,
                value: ["nature", ["other": "Zoë’s ☕️"]], clientTime: Sample.latest)
        ])

    static let canonicalReply = AnswersSaved(
        results: [QueuedResult(question: "smoking", mutationId: QuestionnaireSessionSamples.mutation, revision: 1)],
        progress: QuestionnaireSessionSamples.progress, next: QuestionnaireSessionSamples.next)
    static let minimalReply = AnswersSaved(
        results: [
            QueuedResult(
                question: "a", mutationId: QuestionnaireSessionSamples.mutation,
                error: QueuedError(code: "answer_conflict", detail: "The answer is at revision 2."))
        ], progress: QuestionnaireSessionSamples.done, next: nil)
    static let maximalReply = AnswersSaved(
        results: [
            QueuedResult(
                question: String(repeating: "a", count: 64), subject: QuestionnaireSessionSamples.subject,
                mutationId: QuestionnaireSessionSamples.mutation, revision: Sample.largestInteger,
                error: QueuedError(
                    code: "answer_conflict", detail: "The answer is at revision 2.", field: "baseRevision",
                    reason: "answer_conflict", current: ["revision": 2, "state": "answered", "value": "Zoë’s ☕️"]))
        ], progress: QuestionnaireSessionSamples.done, next: QuestionnaireSessionSamples.fullNext,
        shown: ["menstrualCycle"],
        hidden: ["childName/\(QuestionnaireSessionSamples.subject)"], stale: ["goals"])
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession, QuestionnaireSessionSamples.closed,
        QuestionnaireSessionSamples.stopped,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<PutAnswers> {
        let (session, person) = try await questionnaire.session()
        return Asked(
            PutAnswers(
                questionnaire: "yoked-compat", sessionId: session,
                answers: [
                    QueuedAnswer(question: "smoking", mutationId: .ordered(), state: .answered, value: "never"),
                    QueuedAnswer(question: "drinking", mutationId: .ordered(), state: .answered, value: "certainly"),
                ]), for: person, key: "key-\(Identifier.random())")
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, PutAnswers>] = [
        "unauthorized": { _ in Asked(canonical) }, "not_found": { _ in Asked(canonical, for: .random()) },
        "version_closed": { questionnaire in
            let (session, person) = try await questionnaire.closed()
            return Asked(
                PutAnswers(
                    questionnaire: "family", sessionId: session,
                    answers: [
                        QueuedAnswer(question: "homeTown", mutationId: .ordered(), state: .answered, value: "Umeå")
                    ]), for: person)
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(
                PutAnswers(
                    questionnaire: "yoked-compat", sessionId: session,
                    answers: [
                        QueuedAnswer(question: "smoking", mutationId: .ordered(), state: .answered, value: "never")
                    ]), for: person)
        },
    ]
}

extension PutSubject: MessageContract {
    static let canonical = PutSubject(
        questionnaire: "family", sessionId: Sample.session, subject: QuestionnaireSessionSamples.subject, label: "Alva")
    static let minimal = PutSubject(
        questionnaire: "a", sessionId: Sample.session, subject: QuestionnaireSessionSamples.subject)
    static let maximal = PutSubject(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session,
        subject: QuestionnaireSessionSamples.subject,
        label: String(repeating: "🐻", count: 4096), kind: String(repeating: "a", count: 64))

    static let canonicalReply = SubjectsChanged(
        subjects: [SubjectView(id: QuestionnaireSessionSamples.subject, kind: "child", label: "Alva")],
        progress: QuestionnaireSessionSamples.progress, next: QuestionnaireSessionSamples.next)
    static let minimalReply = SubjectsChanged(subjects: [], progress: QuestionnaireSessionSamples.done, next: nil)
    static let maximalReply = SubjectsChanged(
        subjects: [
            SubjectView(
                id: QuestionnaireSessionSamples.subject, kind: "child", label: String(repeating: "🐻", count: 4096))
        ],
        progress: QuestionnaireSessionSamples.done, next: QuestionnaireSessionSamples.fullNext)
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession,
        BusError(
            .validationFailed, "Some answers cannot be saved as they are.",
            errors: [.init(field: "subject", code: "too_many", message: "There are at most 3 of these.")]),
        QuestionnaireSessionSamples.closed, QuestionnaireSessionSamples.stopped,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<PutSubject> {
        let (session, person) = try await questionnaire.family(children: 0)
        return Asked(
            PutSubject(questionnaire: "family", sessionId: session, subject: .ordered(), label: "Alva"), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, PutSubject>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { _ in Asked(canonical, for: .random()) },
        "validation_failed": { questionnaire in
            let (session, person) = try await questionnaire.family(children: 3)
            return Asked(
                PutSubject(questionnaire: "family", sessionId: session, subject: .ordered(), label: "Alva"),
                for: person)
        },
        "version_closed": { questionnaire in
            let (session, person) = try await questionnaire.closed()
            return Asked(
                PutSubject(questionnaire: "family", sessionId: session, subject: .ordered(), label: "Alva"),
                for: person)
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(
                PutSubject(questionnaire: "yoked-compat", sessionId: session, subject: .ordered(), label: "Alva"),
                for: person)
        },
    ]
}

extension RemoveSubject: MessageContract {
    static let canonical = RemoveSubject(
        questionnaire: "family", sessionId: Sample.session, subject: QuestionnaireSessionSamples.subject)
    static let minimal = RemoveSubject(
        questionnaire: "a", sessionId: Sample.session, subject: QuestionnaireSessionSamples.subject)
    static let maximal = RemoveSubject(
        questionnaire: String(repeating: "a", count: 64), sessionId: Sample.session,
        subject: QuestionnaireSessionSamples.subject)

    static let canonicalReply = PutSubject.canonicalReply
    static let minimalReply = PutSubject.minimalReply
    static let maximalReply = PutSubject.maximalReply
    static let errors = [
        Sample.unauthorized, BusError(.notFound, "There is nobody of that id in this session."),
        QuestionnaireSessionSamples.closed, QuestionnaireSessionSamples.stopped,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<RemoveSubject> {
        let (session, person) = try await questionnaire.family(children: 2)
        let view = try await questionnaire.reply(
            to: Asked(GetSession(questionnaire: "family", sessionId: session), for: person))
        return Asked(
            RemoveSubject(questionnaire: "family", sessionId: session, subject: view.subjects[0].id), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, RemoveSubject>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { questionnaire in
            let (session, person) = try await questionnaire.family(children: 0)
            return Asked(
                RemoveSubject(questionnaire: "family", sessionId: session, subject: .ordered()), for: person)
        },
        "version_closed": { questionnaire in
            let (session, person) = try await questionnaire.closed()
            return Asked(
                RemoveSubject(questionnaire: "family", sessionId: session, subject: .ordered()), for: person)
        },
        "session_stopped": { questionnaire in
            let (session, person) = try await questionnaire.stopped()
            return Asked(
                RemoveSubject(questionnaire: "yoked-compat", sessionId: session, subject: .ordered()), for: person)
        },
    ]
}
