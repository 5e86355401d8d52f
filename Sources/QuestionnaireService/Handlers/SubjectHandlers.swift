import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Adds a subject, renames it, or brings back a removed one.
struct PutSubjectHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: PutSubject, context: RequestContext) async throws -> SubjectsChanged {
        try await service.changingSubjects(request.sessionId, of: request.questionnaire, context) {
            hand, all, transaction in
            let plan = try SubjectPlan.make(request, all: all, on: hand.sheet, now: hand.session.now)
            service.sessions.put(
                plan.subject, of: hand.person, session: hand.session.id, at: hand.session.now, in: transaction)
            service.sessions.write(
                plan.answers, to: plan.sheet.definition, of: hand.person, session: hand.session.id, in: transaction)
            return (plan.sheet, plan.changesSession)
        }
    }
}

/// Removes a subject. The answers about it are kept.
struct RemoveSubjectHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: RemoveSubject, context: RequestContext) async throws -> SubjectsChanged {
        try await service.changingSubjects(request.sessionId, of: request.questionnaire, context) {
            hand, all, transaction in
            guard all.contains(where: { $0.id == request.subject }) else {
                throw BusError(.notFound, "There is nobody of that id in this session.")
            }
            let rest = hand.sheet.subjects.filter { $0.id != request.subject }
            service.sessions.remove(
                request.subject, of: hand.person, session: hand.session.id, at: hand.session.now, in: transaction)
            return (hand.sheet.with(rest), rest.count < hand.sheet.subjects.count)
        }
    }
}

extension QuestionnaireSessionService {
    /// Changes the subjects of a session. Questions that depend on them may be shown or hidden, also those that fill
    /// fields of the profile.
    ///
    /// - Parameter body: receives all subjects, including removed ones. It returns the sheet after the change, and
    ///   whether anything in the session changes.
    fileprivate func changingSubjects(
        _ session: Identifier, of questionnaire: String, _ context: RequestContext,
        _ body: @Loop (LoadedQuestionnaireSession, [Subject], Transaction) throws -> (AnswerSheet, Bool)
    ) async throws -> SubjectsChanged {
        let person = try context.person().userID
        return try await judging(person, context) { verdicts in
            try await delivering { watch in
                try await inbox.oncePerMessage(context) { transaction in
                    let hand = try await take(session, of: person, for: questionnaire, in: transaction)
                    try hand.mustTakeWrites()
                    let all = try await sessions.subjects(of: person, session: session, in: transaction)
                    let (changed, changesSession) = try body(hand, all, transaction)
                    let (sheet, profile) = changed.judged(since: hand.sheet, verdicts)
                    try mustBeJudged(profile)
                    try await note(
                        profile, verdicts, on: hand, by: context.actor, watch: watch, in: transaction)
                    let step = QuestionnaireSessionStep(
                        status: hand.session.status, wasCompleted: hand.session.snapshots > 0,
                        changesAnswers: changesSession, completes: false, missing: [])
                    try await conclude(sheet, step, on: hand, in: transaction)
                    return SubjectsChanged(sheet)
                }
            }
        }
    }
}

extension SubjectsChanged {
    fileprivate init(_ sheet: AnswerSheet) {
        let next = sheet.next
        self.init(
            subjects: sheet.subjectViews, progress: sheet.progress, next: next.map(NextQuestion.init),
            closing: sheet.closing(where: next).orNil)
    }
}
