import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

struct ListIdentitiesHandler: RequestHandler {
    let database: Database
    let secrets: Secrets

    func handle(_ request: ListIdentities, context: RequestContext) async throws -> IdentityList {
        let actor = try context.person()
        let linked = try await IdentityStore.list(of: actor.userID, in: database)
        let email = try await EmailStore.email(of: actor.userID, in: database)
        return IdentityList(
            identities: try linked.map {
                .init(
                    provider: $0.provider.rawValue, email: try secrets.identity($0.sealed, hash: $0.hash).email?.text,
                    linkedAt: $0.linkedAt, lastUsedAt: $0.lastUsedAt,
                    toConfirm: $0.isToConfirm ? true : nil)
            },
            email: try email.map {
                let address = String(decoding: try secrets.emails.open($0.sealed, for: actor.userID), as: UTF8.self)
                return .init(
                    email: EmailAddress(address)?.masked ?? "…", linkedAt: $0.linkedAt, lastUsedAt: $0.lastUsedAt)
            })
    }
}

/// Links an identity that the person of a session proves.
struct LinkIdentityHandler: RequestHandler {
    let inbox: Inbox
    let bearer: BearerChecker
    let secrets: Secrets
    let providers: IdentityProviders
    let apple: AppleTokens
    let linker: IdentityLinker

    func handle(_ request: LinkIdentity, context: RequestContext) async throws -> NoContent {
        let actor = try bearer.actor(of: context)
        let provider = try IdentityProviderName(named: request.provider)
        let identity = try await providers.identity(request.identityToken, nonce: request.nonce, by: provider)
        return try await inbox.once(context) { transaction in
            guard
                try await NonceStore.spend(secrets.hash(of: request.nonce), of: provider, in: transaction) != nil
            else { throw BusError.identityTokenInvalid(provider) }
            // Before the account, as a deletion locks them. It waits for a sign-up with the identity.
            AccountStore.lock(lasting: secrets.hash(of: identity), in: transaction)
            let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
            try permission.mustBeFresh(to: Sentence("link \(provider.title)"))
            try permission.mustNotBeFrozen()
            try await mustHaveMoreThanAnAddress(actor.userID, provider, in: transaction)
            if let code = request.authorizationCode, provider == .apple {
                try apple.get(code, for: identity, in: transaction)
            }
            try await linker.link(identity, to: actor, in: transaction)
            return .reply(NoContent())
        }
    }

    /// An identity is stronger than a code by email. A thief who reads the person's emails must not link an identity:
    /// the owner can undo a first number, but not a link.
    @Loop private func mustHaveMoreThanAnAddress(
        _ person: Identifier, _ provider: IdentityProviderName, in transaction: Transaction
    ) async throws {
        if try await PhoneStore.phone(of: person, in: transaction) != nil { return }
        let linked = try await IdentityStore.list(of: person, in: transaction)
        guard linked.contains(where: { !$0.isToConfirm }) else {
            let detail: Sentence = "Please add a phone number before you link \(provider.title)."
            throw BusError(.forbidden, detail.english)
        }
    }
}

struct UnlinkIdentityHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let apple: AppleTokens
    let notifier: PersonNotifier

    func handle(_ request: UnlinkIdentity, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        let provider = try IdentityProviderName(named: request.provider)
        return try await database.transaction { transaction in
            let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
            try permission.mustBeFresh(to: Sentence("unlink \(provider.title)"))
            try permission.mustNotBeFrozen()
            let linked = try await IdentityStore.list(of: actor.userID, in: transaction)
            guard let identity = linked.first(where: { $0.provider == provider }) else { return NoContent() }
            if try await SignInMethods.count(of: actor.userID, in: transaction) == 1 {
                throw BusError(
                    .lastWayIn, "\(provider.title) is the only way into your account. Add a phone number first.")
            }
            try await apple.revoke(identity, in: transaction)
            IdentityStore.remove(identity.hash, in: transaction)
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            SessionStore.revokeAll(of: actor.userID, openedBy: provider, .unlinked, chain: chain, in: transaction)
            audit.note(
                AuditAct(
                    "identity_unlinked",
                    ["provider": provider.rawValue, "session": actor.sessionID.description]),
                on: chain, in: transaction)
            // The device that made the change is notified too: a stolen access token belongs to the owner's device.
            try await notifier.notify(
                actor.userID, .identityUnlinked, ["provider": provider.rawValue], in: transaction)
            return NoContent()
        }
    }
}
