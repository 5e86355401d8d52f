import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Identifies the member of staff who sends a request. It checks the access token with auth and does not trust the
/// gateway alone.
struct StaffReader: Sendable {
    let database: Database
    let audit: AuditTrail
    let bearers: BearerReader

    /// - Throws: ``BusError`` `unauthorized`; `forbidden` for a person without a staff role and for a decision about
    ///   oneself.
    @Loop func staff(_ context: RequestContext, about person: Identifier) async throws -> Actor {
        _ = try await bearers.bearer(of: context)
        let actor = try context.person()
        guard ["staff", "admin"].contains(actor.role) else {
            throw BusError(.forbidden, "This takes a member of the staff.")
        }
        guard actor.userID != person else {
            throw BusError(.forbidden, "Somebody else must decide about your profile.")
        }
        return actor
    }

    /// The pseudonym of a member of staff, created at the first decision. Once their account is deleted, no record
    /// shows who decided.
    @Loop func name(of staff: Actor) async throws -> String {
        // Uses its own transaction, so that a decision never holds the locks of two people.
        try await database.transaction { transaction in
            Erasure.wait(for: staff.userID, in: transaction)
            guard try await !Erasure.isErased(staff.userID, in: transaction) else { throw Self.unauthorized }
            return try await audit.ensure(staff.userID, in: transaction).name
        }
    }

    private static var unauthorized: BusError { BusError(.unauthorized, "Please sign in.") }
}
