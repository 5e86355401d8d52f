import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Saves answers and completes the session if requested, in one transaction with the event.
struct SubmitResponsesHandler: RequestHandler {
    let questionnaire: String
    let service: QuestionnaireSessionService

    func handle(_ request: SubmitResponses, context: RequestContext) async throws -> ResponsesSubmitted {
        let person = try context.person().userID
        return try await service.knowing(QuestionnaireSessionFacts(language: .untold), of: person, context) { facts in
            try await service.judging(person, context) { verdicts in
                try await service.onceDelivered(context) {
                    try await submit(
                        request, of: person, by: context.actor, knowing: facts, verdicts, watch: $1, in: $0)
                }
            }
        }
    }

    @Loop private func submit(
        _ request: SubmitResponses, of person: Identifier, by actor: Actor?, knowing facts: QuestionnaireSessionFacts,
        _ verdicts: ProfileVerdicts, watch: DeliveryWatch, in transaction: Transaction
    ) async throws -> Outcome<ResponsesSubmitted> {
        let hand = try await hand(request, of: person, knowing: facts, in: transaction)
        let plan = try ResponsePlan.make(
            request.answers, on: hand.sheet, mutations: hand.session.mutations, now: hand.session.now,
            verdicts: verdicts)
        let (sheet, step) = try service.step(after: plan, on: hand, completes: request.complete == true)
        try service.mustBeJudged(plan.profile)
        service.sessions.write(
            plan, to: hand.sheet.definition, of: person, session: hand.session.id, in: transaction)
        try await service.note(plan.profile, verdicts, on: hand, by: actor, watch: watch, in: transaction)
        if case .refuse(let missing) = step { return .refusal(ResponseRefusal.incomplete(missing: missing).busError) }
        try await service.conclude(sheet, step, on: hand, watch: watch, in: transaction)
        let change = SheetChange(from: hand.sheet, to: sheet)
        return .reply(
            ResponsesSubmitted(
                sessionId: hand.session.id, status: step.status(after: hand.session.status), progress: sheet.progress,
                next: change.next, nextQuestion: sheet.next?.question, answers: plan.revisions,
                shown: change.shown.orNil,
                hidden: change.hidden.orNil, stale: change.stale.orNil))
    }
}

extension SubmitResponsesHandler {
    @Loop private func hand(
        _ request: SubmitResponses, of person: Identifier, knowing facts: QuestionnaireSessionFacts,
        in transaction: Transaction
    ) async throws -> LoadedQuestionnaireSession {
        let mutations = request.answers.compactMap(\.mutationId)
        if let id = request.sessionId {
            return try await service.take(id, of: person, for: questionnaire, mutations: mutations, in: transaction)
        }
        return try await service.takeCurrent(
            of: person, for: questionnaire, mutations: mutations, knowing: facts, in: transaction)
    }
}

extension [String] {
    /// `nil` for an empty list, since this reply leaves out empty lists.
    var orNil: [String]? { isEmpty ? nil : self }
}
