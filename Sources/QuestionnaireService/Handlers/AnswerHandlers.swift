import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import Languages

/// Saves or resets one answer, and stores the reply for repeats of its mutation id.
@Loop private struct AnswerWriter {
    let service: QuestionnaireSessionService

    /// The result of a write, before anything is written.
    private enum Verdict {
        /// The write was done before and had this reply.
        case known(AnswerSaved)
        case new(ResponsePlan, AnswerSheet, QuestionnaireSessionStep, AnswerSaved)
    }

    func write(
        _ item: ResponseItem, _ session: Identifier, _ questionnaire: String, _ context: RequestContext
    ) async throws -> AnswerSaved {
        let person = try context.person().userID
        return try await service.judging(person, context) { verdicts in
            // An answer that profile judged needs a transaction with the event.
            if verdicts.judgedAt == nil, let reply = try await writeAtOnce(item, session, questionnaire, person) {
                return reply
            }
            return try await service.delivering { watch in
                try await service.sessions.database.transaction { transaction in
                    let hand = try await service.take(
                        session, of: person, for: questionnaire, mutations: [item.mutationId].compactMap(\.self),
                        in: transaction)
                    switch try judge(item, on: hand, verdicts) {
                    case .known(let reply): return reply
                    case .new(let plan, let sheet, let step, let reply):
                        service.sessions.write(
                            plan, to: hand.sheet.definition, of: person, session: hand.session.id,
                            reply: reply.jsonBytes, in: transaction)
                        try await service.note(
                            plan.profile, verdicts, on: hand, by: context.actor, watch: watch, in: transaction)
                        try await service.conclude(sheet, step, on: hand, in: transaction)
                        return reply
                    }
                }
            }
        }
    }

    /// Most writes come from one device of one person. The session is read without a lock, and one statement writes the
    /// answer if the session is unchanged.
    ///
    /// - Returns: `nil` if the write needs a transaction.
    private func writeAtOnce(
        _ item: ResponseItem, _ session: Identifier, _ questionnaire: String, _ person: Identifier
    ) async throws -> AnswerSaved? {
        guard
            let hand = try await service.look(
                session, of: person, for: questionnaire, mutations: [item.mutationId].compactMap(\.self))
        else { throw ResponseRefusal.unknownSession.busError }
        switch try judge(item, on: hand, ProfileVerdicts()) {
        case .known(let reply): return reply
        case .new(let plan, let sheet, let step, let reply):
            guard step == .stay, plan.writes.count == 1, plan.changesAnswers else { return nil }
            let isWritten = try await service.writeAtOnce(plan.writes[0], sheet, on: hand, reply: reply.jsonBytes)
            return isWritten ? reply : nil
        }
    }

    private func judge(_ item: ResponseItem, on hand: LoadedQuestionnaireSession, _ verdicts: ProfileVerdicts) throws
        -> Verdict
    {
        let plan = ResponsePlan.each(
            [item], on: hand.sheet, mutations: hand.session.mutations, now: hand.session.now, verdicts: verdicts)
        if let refusal = plan.outcomes.first?.refusal { throw refusal }
        if plan.writes.isEmpty, let known = hand.session.mutations.first?.reply {
            return .known(try WireJSON.decode(AnswerSaved.self, from: CanonicalJSON.bytes(of: known)))
        }
        let (sheet, step) = try service.step(after: plan, on: hand, completes: false)
        try service.mustBeJudged(plan.profile)
        let change = SheetChange(
            from: hand.sheet, to: sheet, written: [AnswerPlace(item.question, of: item.subject).key])
        let reply = AnswerSaved(
            revision: plan.revisions.first?.revision ?? 0, progress: sheet.progress, next: change.next,
            closing: change.closing.orNil, shown: change.shown, hidden: change.hidden, stale: change.stale)
        return .new(plan, sheet, step, reply)
    }
}

/// Saves one answer.
struct PutAnswerHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: PutAnswer, context: RequestContext) async throws -> AnswerSaved {
        let item = ResponseItem(
            question: request.question, subject: request.subject, value: request.value, state: request.state,
            mutationId: request.mutationId, baseRevision: request.baseRevision, clientTime: request.clientTime,
            device: request.device, force: request.force, preference: request.preference)
        return try await AnswerWriter(service: service).write(item, request.sessionId, request.questionnaire, context)
    }
}

/// Resets one answer to unanswered.
struct DeleteAnswerHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: DeleteAnswer, context: RequestContext) async throws -> AnswerSaved {
        let item = ResponseItem(
            question: request.question, subject: request.subject, state: .unanswered, mutationId: request.mutationId,
            baseRevision: request.baseRevision, clientTime: request.clientTime, device: request.device,
            force: request.force)
        return try await AnswerWriter(service: service).write(item, request.sessionId, request.questionnaire, context)
    }
}

/// Saves the writes of an offline queue. Each succeeds or fails by itself.
struct PutAnswersHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: PutAnswers, context: RequestContext) async throws -> AnswersSaved {
        let person = try context.person().userID
        return try await service.judging(person, context) { verdicts in
            try await service.onceDelivered(context) {
                try await save(
                    request, of: person, by: context.actor, verdicts, in: .named(context.language), watch: $1, $0)
            }
        }
    }

    @Loop private func save(
        _ request: PutAnswers, of person: Identifier, by actor: Actor?, _ verdicts: ProfileVerdicts,
        in language: Language,
        watch: DeliveryWatch, _ transaction: Transaction
    ) async throws -> Outcome<AnswersSaved> {
        let hand = try await service.take(
            request.sessionId, of: person, for: request.questionnaire, mutations: request.answers.map(\.mutationId),
            in: transaction)
        let plan = ResponsePlan.each(
            request.answers.map(ResponseItem.init), on: hand.sheet, mutations: hand.session.mutations,
            now: hand.session.now, verdicts: verdicts)
        let (sheet, step) = try service.step(after: plan, on: hand, completes: false)
        try service.mustBeJudged(plan.profile)
        service.sessions.write(
            plan, to: hand.sheet.definition, of: person, session: hand.session.id, in: transaction)
        try await service.note(plan.profile, verdicts, on: hand, by: actor, watch: watch, in: transaction)
        try await service.conclude(sheet, step, on: hand, in: transaction)
        let change = SheetChange(from: hand.sheet, to: sheet, written: Set(plan.writes.map(\.key)))
        return .reply(
            AnswersSaved(
                results: zip(request.answers, plan.outcomes).enumerated().map {
                    QueuedResult($1.0, $1.1, at: $0, in: language)
                },
                progress: sheet.progress,
                next: change.next, closing: change.closing.orNil, shown: change.shown, hidden: change.hidden,
                stale: change.stale))
    }
}

extension ResponseItem {
    fileprivate init(_ queued: QueuedAnswer) {
        self.init(
            question: queued.question, subject: queued.subject, value: queued.value, state: queued.state,
            mutationId: queued.mutationId, baseRevision: queued.baseRevision, clientTime: queued.clientTime,
            device: queued.device, force: queued.force, preference: queued.preference)
    }
}

extension QueuedResult {
    fileprivate init(_ queued: QueuedAnswer, _ outcome: ItemOutcome, at index: Int, in language: Language) {
        let error = outcome.refusal.map { refusal in
            QueuedError(
                code: refusal.code,
                detail: language.translation(of: refusal.errors?.first?.message ?? refusal.detail),
                errors: refusal.errors?.map { FieldProblem($0, at: index, in: language) },
                field: refusal.errors?.first?.field, reason: refusal.errors?.first?.code,
                current: refusal.details?["current"])
        }
        self.init(
            question: queued.question, subject: queued.subject, mutationId: queued.mutationId,
            revision: outcome.revision?.revision, error: error)
    }
}

extension FieldProblem {
    /// A problem with a member of one write of a batch.
    fileprivate init(_ problem: BusError.FieldProblem, at index: Int, in language: Language) {
        self.init(
            field: "answers.\(index).\(problem.field)", pointer: "/answers/\(index)\(problem.place)",
            code: problem.code,
            message: language.translation(of: problem.message))
    }
}
