import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct ListSessionsHandler: RequestHandler {
    let database: Database

    func handle(_ request: ListSessions, context: RequestContext) async throws -> SessionList {
        let actor = try context.person()
        return SessionList(
            sessions: try await SessionStore.list(of: actor.userID, current: actor.sessionID, in: database))
    }
}

struct EndSessionHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail

    func handle(_ request: EndSession, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await database.transaction { transaction in
            guard try await SessionStore.belongs(request.sessionId, to: actor.userID, in: transaction) else {
                throw BusError(.notFound, "There is no such session.")
            }
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            SessionStore.revoke(request.sessionId, .ended, chain: chain, in: transaction)
            return NoContent()
        }
    }
}

struct EndOtherSessionsHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail

    func handle(_ request: EndOtherSessions, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await database.transaction { transaction in
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            SessionStore.revokeAll(of: actor.userID, but: actor.sessionID, .ended, chain: chain, in: transaction)
            return NoContent()
        }
    }
}

struct NoteTokenUseHandler: RequestHandler {
    let database: Database

    func handle(_ request: NoteTokenUse, context: RequestContext) async throws -> Acknowledged {
        try await SessionStore.noteUse(of: request.tokenID, session: request.sessionID, in: database)
        return Acknowledged()
    }
}
