import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Opens a session, or returns the open one.
struct OpenSessionHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: OpenSession, context: RequestContext) async throws -> SessionView {
        let person = try context.person().userID
        let facts = QuestionnaireSessionFacts(language: .header(request.acceptLanguage), platform: request.platform)
        return try await service.knowing(facts, of: person, context) { facts in
            try await service.once(context) { try await open(request, of: person, knowing: facts, in: $0) }
        }
    }

    @Loop private func open(
        _ request: OpenSession, of person: Identifier, knowing facts: QuestionnaireSessionFacts,
        in transaction: Transaction
    ) async throws -> Outcome<SessionView> {
        guard
            let (session, isNew) = try await service.opened(
                for: person, request.questionnaire, knowing: facts, in: transaction)
        else { throw BusError(.notFound, "There is no such questionnaire.") }
        let result = try await service.sessions.result(of: session.id, of: person, in: transaction)
        return .reply(
            try await service.view(
                try await service.hand(session, of: person), language: request.acceptLanguage, result: result,
                isNew: isNew))
    }
}

/// Lists the person's sessions of a questionnaire.
struct ListQuestionnaireSessionsHandler: RequestHandler {
    let sessions: QuestionnaireSessionStore

    func handle(_ request: ListQuestionnaireSessions, context: RequestContext) async throws -> QuestionnaireSessionList
    {
        QuestionnaireSessionList(
            sessions: try await sessions.list(of: try context.person().userID, for: request.questionnaire))
    }
}

/// Shows one session.
struct GetSessionHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: GetSession, context: RequestContext) async throws -> SessionView {
        let person = try context.person().userID
        // Both reads share one round trip.
        async let newest = service.definitions.documents.newest(of: request.questionnaire)
        guard let hand = try await service.look(request.sessionId, of: person, for: request.questionnaire) else {
            throw ResponseRefusal.unknownSession.busError
        }
        let session = hand.session
        let result = session.snapshots > 0 ? try await service.sessions.result(of: session.id, of: person) : nil
        return try await service.view(
            hand, language: request.acceptLanguage, result: result, newest: try await newest)
    }
}

/// Shows one session as screens to draw.
struct GetSessionScreensHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: GetSessionScreens, context: RequestContext) async throws -> SessionScreens {
        let person = try context.person().userID
        guard let hand = try await service.look(request.sessionId, of: person, for: request.questionnaire) else {
            throw ResponseRefusal.unknownSession.busError
        }
        return hand.published.screens(
            for: hand.sheet, revision: hand.session.revision,
            in: hand.published.language(for: request.acceptLanguage))
    }
}

/// Completes a session. A completed session stays as it is and is returned.
struct CompleteSessionHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: CompleteSession, context: RequestContext) async throws -> SessionView {
        let person = try context.person().userID
        return try await service.onceDelivered(context) { transaction, watch in
            var hand = try await service.take(
                request.sessionId, of: person, for: request.questionnaire, in: transaction)
            let (sheet, step) = try service.step(
                after: ResponsePlan(answers: hand.session.answers), on: hand, completes: true)
            if case .refuse(let missing) = step {
                throw ResponseRefusal.incompleteUnchanged(missing: missing).busError
            }
            try await service.conclude(sheet, step, on: hand, watch: watch, in: transaction)
            hand.session.status = step.status(after: hand.session.status)
            hand.session.completedAt = hand.session.completedAt ?? hand.session.now
            let result = try await service.sessions.result(of: hand.session.id, of: person, in: transaction)
            return .reply(try await service.view(hand, language: request.acceptLanguage, result: result))
        }
    }
}

/// Opens a completed session again.
struct ReopenSessionHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: ReopenSession, context: RequestContext) async throws -> SessionView {
        let person = try context.person().userID
        return try await service.once(context) { transaction in
            var hand = try await service.take(
                request.sessionId, of: person, for: request.questionnaire, in: transaction)
            if hand.session.status == .stopped { throw BusError.sessionStopped }
            if hand.session.status != .inProgress {
                try await reopen(hand.session.id, of: person, in: transaction)
                (hand.session.status, hand.session.completedAt) = (.inProgress, nil)
            }
            let result = try await service.sessions.result(of: hand.session.id, of: person, in: transaction)
            return .reply(try await service.view(hand, language: request.acceptLanguage, result: result))
        }
    }

    @Loop private func reopen(_ session: Identifier, of person: Identifier, in transaction: Transaction) async throws {
        do {
            try await service.sessions.reopen(session, of: person, in: transaction)
        } catch let error as DatabaseError where error.isUniqueViolation(of: "sessions_one_open") {
            throw BusError(.sessionAlreadyOpen, "Another session of this questionnaire is open.")
        }
    }
}

/// Ends an open session without completing it.
struct StopSessionHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: StopSession, context: RequestContext) async throws -> SessionView {
        let person = try context.person().userID
        return try await service.once(context) { transaction in
            var hand = try await service.take(
                request.sessionId, of: person, for: request.questionnaire, in: transaction)
            guard [.inProgress, .stopped].contains(hand.session.status) else {
                throw BusError(.sessionNotOpen, "This session was completed. Only an open session is stopped.")
            }
            service.sessions.stop(hand.session.id, of: person, in: transaction)
            hand.session.status = .stopped
            let result = try await service.sessions.result(of: hand.session.id, of: person, in: transaction)
            return .reply(try await service.view(hand, language: request.acceptLanguage, result: result))
        }
    }
}
