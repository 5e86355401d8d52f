import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Saves answers, and completes the session where asked: one transaction, with the event that tells of it.
struct SubmitResponsesHandler: RequestHandler {
    let questionnaire: String
    let sessions: SessionStore
    let definitions: DefinitionStore
    let inbox: Inbox
    let outbox: Outbox

    func handle(_ request: SubmitResponses, context: RequestContext) async throws -> ResponsesSubmitted {
        let person = try context.person().userID
        // A key of the gateway's own is for retries inside of the house, and those change nothing here anyway.
        let isClientKey = context.idempotencyKey?.hasPrefix(IdempotencyKey.gatewayPrefix) == false
        let (reply, isReplay) = try await inbox.once(isClientKey ? context.inboxRequest : nil) { transaction in
            try await submit(request, of: person, in: transaction)
        }
        context.isReplay = isReplay
        return reply
    }

    @Loop private func submit(
        _ request: SubmitResponses, of person: Identifier, in transaction: Transaction
    ) async throws -> Outcome<ResponsesSubmitted> {
        guard
            let session = try await sessions.locked(
                request.sessionId, of: person, for: questionnaire, in: transaction)
        else {
            throw request.sessionId == nil ? BusError.nothingPublished : ResponseRefusal.unknownSession.busError
        }
        let definition = try await definitions.definition(session.hash).definition
        let mutations = try await sessions.mutations(
            request.answers.compactMap(\.mutationId), of: person, session: session.id, in: transaction)
        let before = AnswerSheet(definition: definition, answers: session.answers, today: session.now.date)
        let plan = try ResponsePlan.make(request.answers, on: before, mutations: mutations, now: session.now)
        let sheet = AnswerSheet(definition: definition, answers: plan.answers, today: before.today)
        sessions.write(plan, of: person, session: session.id, in: transaction)
        let next = SessionStep(
            status: session.status, changesAnswers: plan.changesAnswers, completes: request.complete == true,
            missing: sheet.missing)
        switch next {
        case .stay: break
        case .refuse(let missing): return .refusal(ResponseRefusal.incomplete(missing: missing).busError)
        case .conclude(let status):
            sessions.conclude(sheet, as: status, of: person, session: session, in: transaction)
            if status == .completed { try await tell(session, definition, of: person, in: transaction) }
        }
        return .reply(
            ResponsesSubmitted(
                sessionId: session.id, status: next.status(after: session.status), progress: sheet.progress,
                nextQuestion: sheet.next?.key, answers: plan.revisions,
                shown: sheet.keys(before.hidden.subtracting(sheet.hidden)),
                hidden: sheet.keys(sheet.hidden.subtracting(before.hidden)),
                stale: sheet.keys(sheet.stale.subtracting(before.stale))))
    }

    @Loop private func tell(
        _ session: StoredSession, _ definition: Definition, of person: Identifier, in transaction: Transaction
    ) async throws {
        let event = SessionCompleted(
            personID: person, sessionID: session.id, questionnaire: definition.key, version: definition.version,
            completedAt: session.now)
        try await outbox.tell(event, in: transaction)
    }
}

extension AnswerSheet {
    /// Keys in document order; `nil` for none.
    fileprivate func keys(_ keys: Set<String>) -> [String]? {
        keys.isEmpty ? nil : questions.map(\.key).filter(keys.contains)
    }
}
