import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Takes a claim: auth proves the claimant's phone and freezes the account, then the case is made.
struct RequestRecoveryHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: RequestRecovery, context: RequestContext) async throws -> RecoveryRequested {
        let house = store.house
        let address = store.secrets.hash(ofAddress: context.clientAddress ?? "")
        try await refuseTooMany(Self.byAddress, .bytes(address), store.policy.perAddressDay, wait: 86_400)
        // Another body under a known key must not reach auth, where it would freeze an account.
        try await house.inbox.refuseReuse(context.inboxRequest)
        // The same for a repetition after a lost answer; whoever does not know the whole request speaks of another case.
        let id = context.inboxRequest.map { store.secrets.caseID(of: $0) } ?? .ordered()
        let begun = try await house.bus.call(
            BeginRecovery(
                caseID: id, accountPhone: request.accountPhone, challengeID: request.challengeId, code: request.code,
                device: request.device, freezeSeconds: store.policy.freeze),
            CallOptions(
                timeout: context.remaining, trace: context.trace.child(), idempotencyKey: "recovery-case-\(id)"))
        return try await house.once(context, carriesToken: true) { transaction in
            let earlier = try await transaction.query(Self.byClaimant, [.text(begun.claimantReference), .uuid(id)])
            guard try earlier.first?.integer("count") ?? 0 < store.policy.perPhone else {
                throw Self.tooMany(wait: 2_592_000)
            }
            guard let made = try await store.ensure(begun, address: address, in: transaction) else {
                return .refusal(BusError(.recoveryInProgress, "Your recovery is under way already.", executed: .yes))
            }
            let token = SecretToken.make(prefix: "rt")
            transaction.send(
                "UPDATE cases SET token_hash = $2, address_hash = $3 WHERE id = $1",
                [.uuid(made.id), .bytes(store.secrets.hash(of: token)), .bytes(address)])
            return .reply(
                RecoveryRequested(
                    recoveryId: made.id, recoveryToken: token, status: CaseStatus.held.rawValue,
                    holdUntil: made.holdUntil))
        }
    }

    @Loop private func refuseTooMany(_ count: Statement, _ value: SQLValue, _ limit: Int64, wait: Int64) async throws {
        let rows = try await store.house.database.read(count, [value])
        guard try rows.first?.integer("count") ?? 0 < limit else { throw Self.tooMany(wait: wait) }
    }

    private static func tooMany(wait: Int64) -> BusError {
        BusError(.rateLimited, "Please wait \(wait) seconds before retrying", retryAfter: .seconds(wait))
    }

    private static let byAddress: Statement = """
        SELECT count(*) AS count FROM cases WHERE address_hash = $1 AND created_at > clock_timestamp() - interval '1 day'
        """
    private static let byClaimant: Statement = """
        SELECT count(*) AS count FROM cases
        WHERE claimant_reference = $1 AND id <> $2 AND created_at > clock_timestamp() - interval '30 days'
        """
}

/// Makes the case where the answer to the request was lost: auth says in an event what it began.
struct RecoveryBeganHandler: RequestHandler {
    let store: CaseStore

    func handle(_ event: RecoveryBegan, context: RequestContext) async throws -> Acknowledged {
        try await store.house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            _ = try await store.ensure(event.begun, address: nil, in: transaction)
        }
        return Acknowledged()
    }
}
