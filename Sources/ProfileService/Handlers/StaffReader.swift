import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Finds out which member of the staff decides, by auth's word and not by a gateway's alone.
struct StaffReader: Sendable {
    let database: Database
    let audit: AuditTrail
    let bus: Bus

    /// - Throws: ``BusError`` `unauthorized`; `forbidden` for who has no role, and for who decides about themselves.
    @Loop func staff(_ context: RequestContext, about person: Identifier) async throws -> Actor {
        let actor = try await actor(context)
        guard ["staff", "admin"].contains(actor.role) else {
            throw BusError(.forbidden, "This takes a member of the staff.")
        }
        guard actor.userID != person else {
            throw BusError(.forbidden, "Somebody else must decide about your profile.")
        }
        return actor
    }

    /// A pseudonym, so that nothing of who decided outlives their account; made at their first decision.
    @Loop func name(of staff: Actor) async throws -> String {
        // In a transaction of its own: no decision holds two people's turns.
        try await database.transaction { transaction in
            Erasure.wait(for: staff.userID, in: transaction)
            guard try await !Erasure.isErased(staff.userID, in: transaction) else { throw Self.unauthorized }
            return try await audit.ensure(staff.userID, in: transaction).name
        }
    }

    @Loop private func actor(_ context: RequestContext) async throws -> Actor {
        let actor = try context.person()
        guard let token = context.accessToken else { throw Self.unauthorized }
        let checked = try await bus.call(
            CheckBearer(accessToken: token), CallOptions(timeout: context.remaining, trace: context.trace.child()))
        guard Actor(userID: checked.userID, sessionID: checked.sessionID, role: checked.role) == actor else {
            throw Self.unauthorized
        }
        return actor
    }

    private static var unauthorized: BusError { BusError(.unauthorized, "Please sign in.") }
}
