import BusProtocol
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Links an identity to the account that a code opened. The challenge of the code is bound to the identity by a link
/// token.
struct IdentityLinker: Sendable {
    let audit: AuditTrail
    let secrets: Secrets
    let notifier: PersonNotifier

    /// The link that a challenge was requested for; `nil` if it has no link token. The account with the phone is locked
    /// first, as in every change that moves an account.
    ///
    /// - Throws: ``BusError`` `link_token_expired`.
    @Loop func pending(_ challenge: Challenge, in transaction: Transaction) async throws -> PendingLink? {
        guard let token = challenge.linkHash else { return nil }
        AccountStore.lock(holderOf: try secrets.hashes(of: challenge), in: transaction)
        guard let link = try await LinkStore.pending(token, in: transaction) else { throw BusError.linkTokenExpired }
        return link
    }

    /// The account that has no phone and that the identity or address of a link opens already; `nil` if there is none.
    /// The account is locked until the transaction ends.
    @Loop func waiting(for link: PendingLink, in transaction: Transaction) async throws -> Account? {
        let locked =
            link.isEmail
            ? try await AccountStore.known(
                .email, secrets.emails.hashes(of: Array(try secrets.email(of: link).utf8)), in: transaction)
            : try await IdentityStore.account(link.identity, in: transaction)
        guard let account = try await Account(locked, audit: audit, in: transaction),
            try await PhoneStore.phone(of: account.id, in: transaction) == nil
        else { return nil }
        return account
    }

    /// Gives an account without a phone the one that a challenge verified. A role is dropped. The caller notifies the
    /// person, once it has opened the session.
    ///
    /// - Returns: the account as it is then.
    /// - Throws: ``BusError`` `identity_in_use` if the number has another account, `recovery_in_progress`,
    ///   `account_frozen`; `forbidden` for a link of an email address if an identity is linked.
    @Loop func addPhone(
        of challenge: Challenge, to account: Account, for link: PendingLink, in transaction: Transaction
    ) async throws -> Account {
        try await AccountChangeGuard.mustNotBeFrozen(account.id, in: transaction)
        // A thief who reads the person's emails must not set the number, which would be stronger than the identity.
        let isStronger = try await IdentityStore.list(of: account.id, in: transaction).contains { !$0.isToConfirm }
        guard !link.isEmail || !isStronger else {
            throw BusError(.forbidden, "Please sign in with Apple or Google to add a number to your account.")
        }
        let number = try secrets.contact(of: challenge)
        let phone = secrets.hashes(of: number)
        guard try await PhoneStore.owner(of: phone, in: transaction) == nil else { throw try inUse(link) }
        if try await FreezeStore.isClaiming(phone.lasting, in: transaction) { throw BusError.claimUnderWay(.phone) }
        PhoneStore.move(account.id, to: phone, sealed: secrets.phones.seal(number, for: account.id), in: transaction)
        LinkStore.remove(link.hash, in: transaction)
        // As with a change of the number: a role was granted to other ways in.
        try await RoleLoss.phoneChanged.dropRole(of: account.id, account.chain, audit, in: transaction)
        audit.note(AuditAct("phone_added"), on: account.chain, in: transaction)
        return Account(id: account.id, role: .user, isNew: account.isNew, chain: account.chain)
    }

    /// Drops the role of the account to which a code links an identity. The identity would grant the role, and a thief
    /// who reads the SMS may have linked it. Call it before the session is opened: dropping the role ends all sessions.
    @Loop func dropRole(
        ofHolderOf challenge: Challenge, for link: PendingLink, in transaction: Transaction
    ) async throws {
        guard !link.isEmail,
            let holder = try await PhoneStore.owner(of: try secrets.hashes(of: challenge), in: transaction)
        else { return }
        let chain = try await audit.chain(of: holder, in: transaction)
        try await RoleLoss.identityLinked.dropRole(of: holder, chain, audit, in: transaction)
    }

    private func inUse(_ link: PendingLink) throws -> BusError {
        if link.isEmail { return .emailInUse }
        return Self.inUse(try secrets.identity(link.sealed, hash: link.identity).provider)
    }

    /// Makes the link. An error rolls back the sign-in too, so that the code is not used up.
    ///
    /// - Throws: ``BusError`` `link_confirmation_required`, `account_frozen`, `identity_in_use`, `provider_already_linked`.
    @Loop func make(
        _ link: PendingLink, for session: Session, isConfirmed: Bool, in transaction: Transaction
    ) async throws {
        let person = session.user.id
        if !session.isNewUser {
            guard isConfirmed else { throw try notConfirmed(link) }
            let actor = Actor(userID: person, sessionID: session.sessionId, role: .user)
            try await AccountChangeGuard.permission(of: actor, in: transaction).mustNotBeFrozen()
        }
        LinkStore.remove(link.hash, in: transaction)
        if link.isEmail { return try await makeEmail(link, for: session, in: transaction) }
        let identity = try secrets.identity(link.sealed, hash: link.identity)
        guard
            try await insert(
                identity, link.identity, sealed: link.sealed, refresh: link.refreshSealed, of: person, in: transaction)
        else { return }
        try await note(identity, of: person, by: session.sessionId, except: session.deviceId, in: transaction)
    }

    /// Links an identity that the person of a session proved. The person's role is dropped, since a thief with the
    /// session may link an identity of their own. The account is locked.
    ///
    /// - Throws: ``BusError`` `identity_in_use`, `provider_already_linked`.
    @Loop func link(_ identity: ProvenIdentity, to actor: Actor, in transaction: Transaction) async throws {
        guard
            try await insert(
                identity, secrets.hash(of: identity), sealed: try secrets.seal(identity), refresh: nil,
                of: actor.userID, in: transaction)
        else { return }
        let chain = try await audit.chain(of: actor.userID, in: transaction)
        try await RoleLoss.identityLinked.dropRole(of: actor.userID, chain, audit, in: transaction)
        // The device that made the change is notified too: a stolen access token belongs to the owner's device.
        try await note(identity, of: actor.userID, by: actor.sessionID, except: nil, in: transaction)
    }

    @Loop private func note(
        _ identity: ProvenIdentity, of person: Identifier, by session: Identifier, except device: Identifier?,
        in transaction: Transaction
    ) async throws {
        try await notifier.notify(
            person, .identityLinked,
            ["provider": identity.provider.rawValue, "email": identity.email?.text ?? ""], except: device,
            in: transaction)
        let chain = try await audit.chain(of: person, in: transaction)
        audit.note(
            AuditAct("identity_linked", ["provider": identity.provider.rawValue, "session": session.description]),
            on: chain, in: transaction)
    }

    @Loop private func makeEmail(
        _ link: PendingLink, for session: Session, in transaction: Transaction
    ) async throws {
        let linker = EmailLinker(audit: audit, secrets: secrets, notifier: notifier)
        let actor = Actor(userID: session.user.id, sessionID: session.sessionId, role: .user)
        try await linker.link(
            Array(try secrets.email(of: link).utf8), to: actor, except: session.deviceId, in: transaction)
    }

    private func notConfirmed(_ link: PendingLink) throws -> BusError {
        let provider = link.isEmail ? nil : try secrets.identity(link.sealed, hash: link.identity).provider
        let identity: Sentence = provider.map { "\($0.title)" } ?? Sentence("your email address")
        let detail: Sentence =
            "This number has an account already. Confirm that \(identity) is to open it from now on."
        return BusError(.linkConfirmationRequired, detail.english)
    }

    /// - Returns: false if this identity opens the account already.
    @Loop private func insert(
        _ identity: ProvenIdentity, _ hash: [UInt8], sealed: [UInt8], refresh: [UInt8]?, of person: Identifier,
        in transaction: Transaction
    ) async throws -> Bool {
        let others = try await IdentityStore.list(of: person, in: transaction)
        if let other = others.first(where: { $0.provider == identity.provider }) {
            guard other.hash == hash else { throw Self.alreadyLinked(identity.provider) }
            IdentityStore.confirm(other.hash, in: transaction)
            return other.isToConfirm
        }
        let isMine = try await IdentityStore.insert(
            hash, keyID: secrets.identityHash.keyID, person: person, provider: identity.provider, sealed: sealed,
            refresh: refresh, in: transaction)
        guard isMine else { throw Self.inUse(identity.provider) }
        return true
    }

    private static func alreadyLinked(_ provider: IdentityProviderName) -> BusError {
        BusError(
            .providerAlreadyLinked, "Another \(provider.title) account is linked to yours. Unlink it first.")
    }
    private static func inUse(_ provider: IdentityProviderName) -> BusError {
        BusError(.identityInUse, "This \(provider.title) account is linked to another account.")
    }
}
