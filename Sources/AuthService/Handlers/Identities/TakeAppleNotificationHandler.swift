import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Handles a notification from Apple about an identity. Its `jti` is the natural key: a repeated notification has no
/// effect.
struct TakeAppleNotificationHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let secrets: Secrets
    let providers: IdentityProviders
    let notifier: PersonNotifier

    func handle(_ request: TakeAppleNotification, context: RequestContext) async throws -> AppleNotificationTaken {
        let (notification, issuer) = try await providers.appleNotification(request.payload)
        let hash = secrets.hash(ofIssuer: issuer, subject: notification.subject)
        try await database.transaction { transaction in
            let id = secrets.hash(of: notification.id)
            guard try await IdentityStore.isNews(id, seconds: AppleNotification.life, in: transaction) else { return }
            switch notification.event {
            case .identityEnded: try await end(hash, in: transaction)
            case .emailChanged(let email): try await change(hash, to: email, in: transaction)
            case .other: break
            }
        }
        return AppleNotificationTaken()
    }

    /// Removes the identity and ends the sessions opened with Apple. If the identity is the only way into the account,
    /// its row stays. The person may then sign in with Apple again, as the same subject.
    @Loop private func end(_ hash: [UInt8], in transaction: Transaction) async throws {
        guard let person = try await IdentityStore.owner(hash, in: transaction) else { return }
        AccountStore.lock(person, in: transaction)
        let linked = try await IdentityStore.list(of: person, in: transaction)
        guard linked.contains(where: { $0.hash == hash }) else { return }
        if try await SignInMethods.count(of: person, in: transaction) > 1 {
            IdentityStore.remove(hash, in: transaction)
        }
        let chain = try await audit.chain(of: person, in: transaction)
        SessionStore.revokeAll(of: person, openedBy: .apple, .unlinked, chain: chain, in: transaction)
        audit.note(
            AuditAct("identity_revoked", ["provider": IdentityProviderName.apple.rawValue]), on: chain,
            in: transaction)
        try await notifier.notify(
            person, .identityRevoked, ["provider": IdentityProviderName.apple.rawValue], in: transaction)
    }

    @Loop private func change(_ hash: [UInt8], to email: MaskedEmail?, in transaction: Transaction) async throws {
        guard let email, let person = try await IdentityStore.owner(hash, in: transaction) else { return }
        let linked = try await IdentityStore.list(of: person, in: transaction)
        guard let row = linked.first(where: { $0.hash == hash }) else { return }
        let identity = try secrets.identity(row.sealed, hash: hash).with(email)
        IdentityStore.describe(hash, sealed: try secrets.seal(identity), in: transaction)
        let chain = try await audit.chain(of: person, in: transaction)
        audit.note(
            AuditAct("identity_email_changed", ["provider": IdentityProviderName.apple.rawValue]), on: chain,
            in: transaction)
    }
}
