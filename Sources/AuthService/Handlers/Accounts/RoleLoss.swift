import BusProtocol
import Database
import EventLoop

/// Why an account loses its role without an operator: somebody else may control the account now.
enum RoleLoss: String {
    case phoneChanged = "phone_changed"
    case recovered
    /// Another identity was linked, which would grant the role.
    case identityLinked = "identity_linked"
    /// The number was given to its new holder.
    case detached

    /// Deletes the proposals for a person. If the person has a role, it becomes `user` and all sessions of the person
    /// end.
    @Loop func dropRole(
        of person: Identifier, _ chain: AuditChain, _ audit: AuditTrail, in transaction: Transaction
    ) async throws {
        guard let role = try await RoleStore.drop(of: person, in: transaction) else { return }
        SessionStore.revokeAll(of: person, but: nil, .role, chain: chain, in: transaction)
        audit.note(AuditAct("role_dropped", ["role": role.rawValue, "why": rawValue]), on: chain, in: transaction)
    }
}
