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
    /// Auth does not move the account before this many seconds have passed, even if recovery asks for it. A proof must
    /// be at least this old.
    let hold: Int64

    func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
        let contact = try contact(in: request)
        // The identity is checked before any look-up, so that a refusal reveals nothing about the account.
        let shown = try await identity(in: request)
        let sought: AccountStore.LoginIdentifier
        if let contact {
            sought = .contact(contact.kind, secrets.hashes(of: contact))
        } else if let shown {
            sought = .identity(secrets.hash(of: shown))
        } else {
            throw Self.notNamed
        }
        let reference = secrets.reference(of: sought.lasting)
        return try await inbox.once(context) { transaction in
            let known = try await FreezeStore.begun(request.caseID, secrets.freezeSealer, in: transaction)
            if let known { return .reply(known) }
            if let shown, let nonce = request.identity?.nonce {
                guard try await NonceStore.spend(secrets.hash(of: nonce), of: shown.provider, in: transaction) != nil
                else { throw BusError.identityTokenInvalid(shown.provider) }
            }
            switch try await check(request, in: transaction) {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge):
                // The message with the code may have named another account, or a recovery to complete.
                let named = try await LinkStore.recovery(of: challenge.id, in: transaction)
                guard named.caseID == nil, secrets.isOf(reference, challenge, named.account) else {
                    throw ChallengeChecker.expired
                }
                // This waits for a sign-up with the claimant's contact that is under way.
                let claimant = try secrets.hashes(of: challenge)
                let owner = try await AccountStore.owner(challenge.contact, claimant, in: transaction)
                let account = try await Self.reachable(by: sought, in: transaction)
                if let owner, owner != account {
                    var refusal = BusError.claimantHasAccount(challenge.contact)
                    refusal.executed = .yes
                    return .refusal(refusal)
                }
                return .reply(
                    try await begin(
                        request, reference, of: account, by: challenge, isOwn: owner != nil, shown, in: transaction))
            }
        }
    }

    private static let notNamed = BusError(
        .validationFailed, "Some members of the request are missing or wrong.",
        errors: [
            .init(
                field: "accountPhone", code: "required",
                message: "Name the account by its number, by its email address, or by a linked identity.")
        ])

    /// The account that a claim can reach; `nil` if there is none or it is not active. An account with a number is
    /// reached by a number only, since that is the strongest way in.
    @Loop static func reachable(
        by sought: AccountStore.LoginIdentifier, in transaction: Transaction
    ) async throws -> Identifier? {
        guard let (person, isActive) = try await AccountStore.named(by: sought, in: transaction), isActive else {
            return nil
        }
        if case .contact(.phone, _) = sought { return person }
        // Behind the lock, so that no number comes afterwards.
        return try await PhoneStore.phone(of: person, in: transaction) == nil ? person : nil
    }

    /// The number or the address that names the account; `nil` if an identity names it.
    private func contact(in request: BeginRecovery) throws -> Contact? {
        guard let phone = request.accountPhone else {
            return try request.accountEmail.map { .email(try EmailAddress($0, field: "accountEmail")) }
        }
        guard request.accountEmail == nil else { throw Self.notNamed }
        return .phone(try phones.number(phone))
    }

    @Loop private func identity(in request: BeginRecovery) async throws -> ProvenIdentity? {
        guard let shown = request.identity else { return nil }
        return try await providers.identity(
            shown.identityToken, nonce: shown.nonce, by: try IdentityProviderName(named: shown.provider))
    }

    /// An account that is named by a number has one. So its claimant proves a number, too.
    @Loop private func check(
        _ request: BeginRecovery, in transaction: Transaction
    ) async throws -> ChallengeChecker.Result {
        guard request.accountPhone == nil else {
            return try await checker.check(request.challengeID, request.code, purpose: .recovery, in: transaction)
        }
        return try await checker.check(
            request.challengeID, request.code, purpose: .recovery, .emailRecovery, in: transaction)
    }

    /// - Parameters:
    ///   - account: `nil` if none can be reached.
    ///   - isOwn: whether the claimant's contact is the account's own.
    @Loop private func begin(
        _ request: BeginRecovery, _ reference: String, of account: Identifier?, by challenge: Challenge, isOwn: Bool,
        _ shown: ProvenIdentity?, in transaction: Transaction
    ) async throws -> RecoveryBegun {
        var account = account
        var facts = try await FreezeStore.facts(
            of: account, claimant: try secrets.hashes(of: challenge), device: request.device.id,
            secret: request.device.secret.map { secrets.hash(of: $0) }, identity: shown.map { secrets.hash(of: $0) },
            age: hold, dormantAfter: dormantAfter, in: transaction)
        let proof = RecoveryProof.strongest(of: facts?.proofs ?? [])
        // A new mailbox costs nothing. If it were enough, anybody could keep an account frozen.
        if challenge.contact == .email, !isOwn, proof == nil { (account, facts) = (nil, nil) }
        let contact = try secrets.contact(of: challenge)
        // These hashes do not depend on the account. So recovery's limits are the same if there is no account.
        let proofs = [request.device.secret.map { secrets.hash(of: $0) }, shown.map { secrets.hash(of: $0) }]
        let begun = RecoveryBegun(
            caseID: request.caseID, accountID: account, accountReference: reference,
            claimantReference: secrets.reference(of: challenge.contactHash),
            claimantMailbox: secrets.holderHash(of: contact, challenge.contact).map { secrets.reference(of: $0) },
            claimantProofs: proofs.compactMap { $0.map { secrets.reference(of: $0) } },
            maskedClaimantPhone: challenge.contact.masked(contact),
            platform: request.device.platform, hasRecentSignIn: facts?.hasRecentSignIn, proof: proof?.rawValue,
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

/// Takes the first version of the message, from recovery of an earlier release.
struct BeginRecoveryV1Handler: RequestHandler {
    let handler: BeginRecoveryHandler

    func handle(_ request: BeginRecoveryV1, context: RequestContext) async throws -> RecoveryBegun {
        try await handler.handle(
            BeginRecovery(
                caseID: request.caseID, accountPhone: request.accountPhone, challengeID: request.challengeID,
                code: request.code, device: request.device, freezeSeconds: request.freezeSeconds,
                identity: request.identity), context: context)
    }
}
