import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Takes a claim: auth proves the claimant's phone and freezes the account, then the case is made.
struct RequestRecoveryHandler: RequestHandler {
    let database: Database
    let inbox: Inbox
    let bus: Bus
    let delivery: OutboxDelivery
    let cases: CaseWorkflow

    func handle(_ request: RequestRecovery, context: RequestContext) async throws -> RecoveryRequested {
        let origin = cases.secrets.origin(of: context.clientAddress)
        let (ofAddress, ofSite) = try await CaseStore.count(of: origin, in: database)
        guard !cases.policy.isSpent(address: ofAddress, site: ofSite) else { throw Self.tooMany(wait: 86_400) }
        // Another body under a known key must not reach auth, where it would freeze an account.
        let isRepeated = try await inbox.refuseReuse(context.inboxRequest)
        if !isRepeated { try mustTrustClock() }
        // The same for a repetition after a lost answer; whoever does not know the whole request speaks of another case.
        let id =
            context.inboxRequest.map { cases.secrets.caseID(scope: $0.scope, key: $0.key, body: $0.body) } ?? .ordered()
        let begun = try await bus.call(
            BeginRecovery(
                caseID: id, accountPhone: request.accountPhone, challengeID: request.challengeId, code: request.code,
                device: request.device, freezeSeconds: cases.policy.freeze, identity: request.identity),
            CallOptions(
                timeout: context.remaining, trace: context.trace.child(), idempotencyKey: "recovery-case-\(id)"))
        return try await inbox.once(context, carriesToken: true) { transaction in
            let made: RecoveryCase
            switch try await cases.ensure(begun, origin: origin, in: transaction) {
            case .made(let record): made = record
            case .alreadyOpen:
                // Committed, and with it that auth lifts the freeze.
                return .refusal(BusError(.recoveryInProgress, "Your recovery is under way already.", executed: .yes))
            // Nothing stays of this one: auth lifts the freeze for its own event, which brings no case either.
            case .tooMany(let wait): throw Self.tooMany(wait: wait)
            }
            let (token, device) = (SecretToken.make(prefix: "rt"), SecretToken.make(prefix: "rd"))
            CaseStore.keepSecrets(
                token: cases.secrets.hash(of: token), device: cases.secrets.hash(of: device), origin: origin,
                reason: sealed(request.reason, of: made.id), of: made.id, in: transaction)
            return .reply(
                RecoveryRequested(
                    recoveryId: made.id, recoveryToken: token, status: CaseStatus.held.rawValue,
                    holdUntil: made.holdUntil, deviceSecret: device))
        }
    }

    /// For a decoy, too, which takes the same time and keeps none.
    private func sealed(_ reason: String?, of id: Identifier) -> [UInt8]? {
        guard let reason, !reason.isEmpty else { return nil }
        return cases.secrets.evidenceSealer.seal(Array(reason.utf8), associated: id.array)
    }

    /// A hold that begins by a clock that was set back would be over too early once the clock is right. What auth has begun
    /// becomes a case all the same: without one its owner could not stop it.
    ///
    /// - Throws: ``BusError`` `service_unavailable` while the database's clock is not where it should be.
    @Loop private func mustTrustClock() throws(BusError) {
        guard !delivery.trustsClock else { return }
        throw BusError(
            .serviceUnavailable, "Recoveries cannot begin at the moment. Please try again later.",
            retryAfter: .seconds(60))
    }

    /// - Parameter wait: seconds.
    private static func tooMany(wait: Int64) -> BusError {
        BusError(.rateLimited, "Please wait \(wait) seconds before retrying", retryAfter: .seconds(wait))
    }
}
