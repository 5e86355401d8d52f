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
        let container = store.container
        let origin = store.secrets.origin(of: context.clientAddress)
        guard try await !store.isSpent(origin) else { throw Self.tooMany(wait: 86_400) }
        // Another body under a known key must not reach auth, where it would freeze an account.
        let isRepeated = try await container.inbox.refuseReuse(context.inboxRequest)
        if !isRepeated { try store.mustTrustClock() }
        // The same for a repetition after a lost answer; whoever does not know the whole request speaks of another case.
        let id = context.inboxRequest.map { store.secrets.caseID(of: $0) } ?? .ordered()
        let begun = try await container.bus.call(
            BeginRecovery(
                caseID: id, accountPhone: request.accountPhone, challengeID: request.challengeId, code: request.code,
                device: request.device, freezeSeconds: store.policy.freeze, identity: request.identity),
            CallOptions(
                timeout: context.remaining, trace: context.trace.child(), idempotencyKey: "recovery-case-\(id)"))
        return try await container.once(context, carriesToken: true) { transaction in
            let made: RecoveryCase
            switch try await store.ensure(begun, origin: origin, in: transaction) {
            case .made(let record): made = record
            case .alreadyOpen:
                // Committed, and with it that auth lifts the freeze.
                return .refusal(BusError(.recoveryInProgress, "Your recovery is under way already.", executed: .yes))
            // Nothing stays of this one: auth lifts the freeze for its own event, which brings no case either.
            case .tooMany(let wait): throw Self.tooMany(wait: wait)
            }
            let (token, device) = (SecretToken.make(prefix: "rt"), SecretToken.make(prefix: "rd"))
            store.setSecrets(
                token: store.secrets.hash(of: token), device: store.secrets.hash(of: device), origin: origin,
                reason: request.reason, of: made.id, in: transaction)
            return .reply(
                RecoveryRequested(
                    recoveryId: made.id, recoveryToken: token, status: CaseStatus.held.rawValue,
                    holdUntil: made.holdUntil, deviceSecret: device))
        }
    }

    /// - Parameter wait: seconds.
    private static func tooMany(wait: Int64) -> BusError {
        BusError(.rateLimited, "Please wait \(wait) seconds before retrying", retryAfter: .seconds(wait))
    }
}
