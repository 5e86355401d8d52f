import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Takes a claim. Auth verifies the claimant's phone or address and freezes the account, then the case is created.
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
        // A known key with another body must not reach auth, where it would freeze an account.
        let isRepeated = try await inbox.refuseReuse(context.inboxRequest)
        if !isRepeated { try mustTrustClock() }
        // A repeat after a lost reply gets the same case ID. A request that differs in any part gets another one.
        let id =
            context.inboxRequest.map { cases.secrets.caseID(scope: $0.scope, key: $0.key, body: $0.body) } ?? .ordered()
        let begun = try await bus.call(
            BeginRecovery(
                caseID: id, accountPhone: request.accountPhone, accountEmail: request.accountEmail,
                challengeID: request.challengeId, code: request.code,
                device: request.device, freezeSeconds: cases.policy.freeze, identity: request.identity),
            CallOptions(
                timeout: context.remaining, trace: context.trace.child(), idempotencyKey: "recovery-case-\(id)"))
        return try await inbox.once(context, carriesToken: true) { transaction in
            let made: RecoveryCase
            switch try await cases.ensure(begun, origin: origin, in: transaction) {
            case .made(let record): made = record
            case .alreadyOpen:
                // The transaction commits together with the event that makes auth lift the freeze.
                return .refusal(BusError(.recoveryInProgress, "Your recovery is under way already.", executed: .yes))
            // This transaction rolls back. The handler of auth's event comes to the same result, and then auth lifts
            // the freeze.
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

    /// Encrypts the reason for a decoy, too, so that the time is the same. It is not stored for a decoy.
    private func sealed(_ reason: String?, of id: Identifier) -> [UInt8]? {
        guard let reason, !reason.isEmpty else { return nil }
        return cases.secrets.evidenceSealer.seal(Array(reason.utf8), associated: id.array)
    }

    /// Refuses new recoveries while the database's clock is wrong. If it was set back, the hold would end too early
    /// once it is right again. A recovery that auth has begun still becomes a case, because its owner could not stop it
    /// otherwise.
    ///
    /// - Throws: ``BusError`` `service_unavailable` while the database's clock is not trusted.
    @Loop private func mustTrustClock() throws(BusError) {
        guard !delivery.trustsClock else { return }
        throw BusError(
            .serviceUnavailable, "Recoveries cannot begin at the moment. Please try again later.",
            retryAfter: .seconds(60))
    }

    /// - Parameter wait: seconds.
    private static func tooMany(wait: Int64) -> BusError {
        BusError(.rateLimited, "Please wait \(wait.counted("second")) before retrying", retryAfter: .seconds(wait))
    }
}

/// Takes the first version of the message, from a gateway of an earlier release.
struct RequestRecoveryV1Handler: RequestHandler {
    let handler: RequestRecoveryHandler

    func handle(_ request: RequestRecoveryV1, context: RequestContext) async throws -> RecoveryRequested {
        try await handler.handle(
            RequestRecovery(
                accountPhone: request.accountPhone, challengeId: request.challengeId, code: request.code,
                device: request.device, reason: request.reason, identity: request.identity), context: context)
    }
}
