import BusProtocol
import Database
import EventLoop
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
        guard let token = try await LinkStore.link(of: challenge.id, in: transaction) else { return nil }
        AccountStore.lock(holderOf: try secrets.hashes(of: challenge), in: transaction)
        guard let link = try await LinkStore.pending(token, in: transaction) else { throw BusError.linkTokenExpired }
        return link
    }

    /// Makes the link. An error rolls back the sign-in too, so that the code is not used up.
    ///
    /// - Throws: ``BusError`` `link_confirmation_required`, `account_frozen`, `identity_in_use`, `provider_already_linked`.
    @Loop func make(
        _ link: PendingLink, for session: Session, isConfirmed: Bool, in transaction: Transaction
    ) async throws {
        let identity = try secrets.identity(link.sealed, hash: link.identity)
        let person = session.user.id
        if !session.isNewUser {
            guard isConfirmed else { throw Self.notConfirmed(identity.provider) }
            let actor = Actor(userID: person, sessionID: session.sessionId, role: "user")
            try await StandingStore.standing(of: actor, in: transaction).mustNotBeFrozen()
        }
        LinkStore.remove(link.hash, in: transaction)
        guard try await insert(link, identity, of: person, in: transaction) else { return }
        try await notifier.notify(
            person, .identityLinked,
            ["provider": identity.provider.rawValue, "email": identity.email?.text ?? ""], except: session.deviceId,
            in: transaction)
        let chain = try await audit.chain(of: person, in: transaction)
        audit.note(
            AuditAct(
                "identity_linked",
                ["provider": identity.provider.rawValue, "session": session.sessionId.description]),
            on: chain, in: transaction)
    }

    /// - Returns: false if this identity opens the account already.
    @Loop private func insert(
        _ link: PendingLink, _ identity: ProvenIdentity, of person: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        let others = try await IdentityStore.list(of: person, in: transaction)
        if let other = others.first(where: { $0.provider == identity.provider }) {
            guard other.hash == link.identity else { throw Self.alreadyLinked(identity.provider) }
            IdentityStore.confirm(other.hash, in: transaction)
            return other.isToConfirm
        }
        let isMine = try await IdentityStore.insert(
            link.identity, keyID: secrets.identityHash.keyID, person: person, provider: identity.provider,
            sealed: link.sealed, refresh: link.refreshSealed, in: transaction)
        guard isMine else { throw Self.inUse(identity.provider) }
        return true
    }

    private static func notConfirmed(_ provider: IdentityProviderName) -> BusError {
        BusError(
            .linkConfirmationRequired,
            "This number has an account already. Confirm that \(provider.title) is to open it from now on.")
    }
    private static func alreadyLinked(_ provider: IdentityProviderName) -> BusError {
        BusError(
            .providerAlreadyLinked, "Another \(provider.title) account is linked to yours. Unlink it first.")
    }
    private static func inUse(_ provider: IdentityProviderName) -> BusError {
        BusError(.identityInUse, "This \(provider.title) account is linked to another account.")
    }
}
