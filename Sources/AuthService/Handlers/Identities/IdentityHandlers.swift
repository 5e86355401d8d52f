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

struct UnlinkIdentityHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let apple: AppleTokens
    let notifier: PersonNotifier

    func handle(_ request: UnlinkIdentity, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        let provider = try IdentityProviderName(named: request.provider)
        return try await database.transaction { transaction in
            let standing = try await StandingStore.standing(of: actor, in: transaction)
            try standing.mustBeFresh(to: Sentence("unlink \(provider.title)"))
            try standing.mustNotBeFrozen()
            let linked = try await IdentityStore.list(of: actor.userID, in: transaction)
            guard let identity = linked.first(where: { $0.provider == provider }) else { return NoContent() }
            if try await WaysIn.count(of: actor.userID, in: transaction) == 1 {
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
