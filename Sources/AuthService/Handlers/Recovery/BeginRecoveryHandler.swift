import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Uses the claimant's challenge, looks for the account and freezes it.
///
/// The case id is the natural key: a repeated request gets the same reply. A refusal is stored under the idempotency
/// key, so that a wrong code counts once.
struct BeginRecoveryHandler: RequestHandler {
    let inbox: Inbox
    let outbox: Outbox
    let audit: AuditTrail
    let secrets: Secrets
    let checker: ChallengeChecker
    let phones: PhonePolicy
    let providers: IdentityProviders
    /// `AUTH_DORMANT_AFTER`; `nil` if no account counts as dormant.
    let dormantAfter: Duration?
    /// The account is not moved before this many seconds have passed, whatever recovery says. A proof must be at least
    /// this old.
    let hold: Int64

    func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
        let phone = try phones.number(request.accountPhone)
        let sought = secrets.hashes(of: phone)
        let reference = secrets.reference(ofPhoneHash: sought.lasting)
        // The identity is checked before any look-up, so that a refusal reveals nothing about the account.
        let shown = try await identity(in: request)
        return try await inbox.once(context) { transaction in
            let known = try await FreezeStore.begun(request.caseID, secrets.freezeSealer, in: transaction)
            if let known { return .reply(known) }
            if let shown, let nonce = request.identity?.nonce {
                guard try await NonceStore.spend(secrets.hash(of: nonce), of: shown.provider, in: transaction) != nil
                else { throw BusError.identityTokenInvalid(shown.provider) }
            }
            switch try await checker.check(request.challengeID, request.code, purpose: .recovery, in: transaction) {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge):
                // The SMS with the code may have named another account, or a recovery to complete.
                let named = try await LinkStore.recovery(of: challenge.id, in: transaction)
                guard named.caseID == nil, secrets.isOf(reference, challenge, named.account) else {
                    throw ChallengeChecker.expired
                }
                // This waits for a sign-up with the claimant's number that is under way.
                let number = try secrets.contact(of: challenge)
                let owner = try await PhoneStore.owner(of: secrets.hashes(of: number), in: transaction)
                let account = try await AccountStore.reachable(phone: sought, in: transaction)
                if let owner, owner != account {
                    var refusal = BusError.claimantHasAccount
                    refusal.executed = .yes
                    return .refusal(refusal)
                }
                return .reply(
                    try await begin(
                        request, reference, account, challenge, number, shown, in: transaction))
            }
        }
    }

    @Loop private func identity(in request: BeginRecovery) async throws -> ProvenIdentity? {
        guard let shown = request.identity else { return nil }
        return try await providers.identity(
            shown.identityToken, nonce: shown.nonce, by: try IdentityProviderName(named: shown.provider))
    }

    @Loop private func begin(
        _ request: BeginRecovery, _ reference: String, _ account: Identifier?, _ challenge: Challenge,
        _ number: [UInt8], _ shown: ProvenIdentity?, in transaction: Transaction
    ) async throws -> RecoveryBegun {
        let facts = try await FreezeStore.facts(
            of: account, claimant: secrets.hashes(of: number), device: request.device.id,
            secret: request.device.secret.map { secrets.hash(of: $0) }, identity: shown.map { secrets.hash(of: $0) },
            age: hold, dormantAfter: dormantAfter, in: transaction)
        let begun = RecoveryBegun(
            caseID: request.caseID, accountID: account, accountReference: reference,
            claimantReference: secrets.reference(ofPhoneHash: challenge.contactHash),
            maskedClaimantPhone: PhoneNumber(String(decoding: number, as: UTF8.self))?.masked ?? "another number",
            platform: request.device.platform, hasRecentSignIn: facts?.hasRecentSignIn, proof: facts?.proof,
            isStaff: facts?.isStaff, isDormant: facts?.isDormant)
        try FreezeStore.insert(
            begun, secrets.freezeSealer, claimant: challenge.contactHash, seconds: request.freezeSeconds, hold: hold,
            in: transaction)
        let chain =
            if let account { try await audit.chain(of: account, in: transaction) } else { AuditChain.service }
        audit.note(
            AuditAct("recovery_begun", ["case": request.caseID.description]), on: chain, in: transaction)
        if account != nil { UnnotifiedClaims.watch(request.caseID, from: challenge.now, in: transaction, outbox) }
        try await outbox.publish(
            RecoveryBegan(personID: account ?? request.caseID, begun: begun), in: transaction)
        return begun
    }
}
