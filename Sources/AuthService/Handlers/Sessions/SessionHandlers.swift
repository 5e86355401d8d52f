import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct ListSessionsHandler: RequestHandler {
    let container: ServiceContainer

    func handle(_ request: ListSessions, context: RequestContext) async throws -> SessionList {
        let actor = try context.person()
        return SessionList(
            sessions: try await SessionStore.list(of: actor.userID, current: actor.sessionID, in: container.database))
    }
}

struct EndSessionHandler: RequestHandler {
    let container: ServiceContainer

    func handle(_ request: EndSession, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await container.database.transaction { transaction in
            guard try await SessionStore.belongs(request.sessionId, to: actor.userID, in: transaction) else {
                throw BusError(.notFound, "There is no such session.")
            }
            let chain = try await container.audit.chain(of: actor.userID, in: transaction)
            SessionStore.revoke(request.sessionId, .ended, chain: chain, in: transaction)
            return NoContent()
        }
    }
}

struct EndOtherSessionsHandler: RequestHandler {
    let container: ServiceContainer

    func handle(_ request: EndOtherSessions, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await container.database.transaction { transaction in
            let chain = try await container.audit.chain(of: actor.userID, in: transaction)
            SessionStore.revokeAll(of: actor.userID, but: actor.sessionID, .ended, chain: chain, in: transaction)
            return NoContent()
        }
    }
}

struct NoteTokenUseHandler: RequestHandler {
    let container: ServiceContainer

    func handle(_ request: NoteTokenUse, context: RequestContext) async throws -> Acknowledged {
        try await SessionStore.noteUse(of: request.tokenID, session: request.sessionID, in: container.database)
        return Acknowledged()
    }
}
