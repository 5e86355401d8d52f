import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Changes a role for an operator. When the role changes, all sessions of the person end, because their tokens have the
/// old role.
struct ChangeRoleHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    /// In development, the second operator needs another name but not another key.
    let isDevelopment: Bool

    func handle(_ request: ChangeRole, context: RequestContext) async throws -> RoleChanged {
        let requester = RoleChange.Operator(name: request.operatorName, key: context.callerKey?.base64)
        return try await inbox.once(context) { transaction in
            Erasure.wait(for: request.userID, in: transaction)
            guard let held = try await RoleStore.role(of: request.userID, in: transaction) else {
                throw BusError(.notFound, "There is no such account.")
            }
            let proposer = try await RoleStore.proposer(
                of: request.userID, isGranted: request.isGranted, in: transaction)
            let decision = RoleChange.decide(
                held: held, role: request.role, isGranted: request.isGranted, by: requester, proposer: proposer,
                needsOtherKey: !isDevelopment)
            switch decision {
            case .unchanged: return .reply(RoleChanged(role: held, status: "unchanged"))
            case .propose:
                try await propose(request, by: requester, isNews: proposer == nil, in: transaction)
                return .reply(RoleChanged(role: held, status: "awaiting_second_operator"))
            case .become(let role):
                try await become(role, request, by: requester, after: proposer, in: transaction)
                return .reply(RoleChanged(role: role, status: "changed"))
            }
        }
    }

    @Loop private func propose(
        _ request: ChangeRole, by requester: RoleChange.Operator, isNews: Bool, in transaction: Transaction
    ) async throws {
        guard isNews else { return }
        RoleStore.propose(request.userID, isGranted: request.isGranted, by: requester, in: transaction)
        let chain = try await audit.chain(of: request.userID, in: transaction)
        audit.note(
            AuditAct(
                request.isGranted ? "role_grant_proposed" : "role_revocation_proposed",
                ["role": request.role.rawValue, "operator": requester.name]), on: chain, in: transaction)
    }

    @Loop private func become(
        _ role: Role, _ request: ChangeRole, by requester: RoleChange.Operator, after proposer: RoleChange.Operator?,
        in transaction: Transaction
    ) async throws {
        RoleStore.set(role, of: request.userID, in: transaction)
        let chain = try await audit.chain(of: request.userID, in: transaction)
        SessionStore.revokeAll(of: request.userID, but: nil, .role, chain: chain, in: transaction)
        var details = ["role": request.role.rawValue, "operator": requester.name]
        if request.role == .admin { details["proposedBy"] = proposer?.name }
        audit.note(
            AuditAct(request.isGranted ? "role_granted" : "role_revoked", details), on: chain, in: transaction)
    }
}

struct ListRolesHandler: RequestHandler {
    let database: Database

    func handle(_ request: ListRoles, context: RequestContext) async throws -> RoleList {
        try await RoleStore.list(in: database)
    }
}
