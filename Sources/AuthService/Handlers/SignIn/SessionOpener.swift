import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Opens sessions. It writes the account, device, session and tokens in the transaction that accepts the code or the
/// identity.
struct SessionOpener: Sendable {
    let outbox: Outbox
    let audit: AuditTrail
    let bus: Bus
    let secrets: Secrets
    let keys: SigningKeyRotator
    let roles: RolePolicy
    let tokens: PushTokens
    let notifier: PersonNotifier

    @Loop func signIn(
        _ challenge: Challenge, _ claim: DeviceClaim, app: String?, language: String?, in transaction: Transaction
    ) async throws -> Session {
        let kind = challenge.contact
        let account = try await account(kind, try secrets.contact(of: challenge), in: transaction)
        if kind == .email { EmailStore.touch(account.id, in: transaction) }
        return try await open(
            account, claim, by: kind.signIn, app: app, language: language, now: challenge.now,
            in: transaction)
    }

    /// The account of a number or an address, created if there is none. Two simultaneous sign-ups create one account.
    @Loop private func account(
        _ kind: Contact.Kind, _ contact: [UInt8], in transaction: Transaction
    ) async throws -> Account {
        let keys = secrets.keys(of: kind)
        let hashes = keys.hashes(of: contact)
        // Two challenges of a contact may be verified at the same moment. The second waits here and finds the account.
        let known = try await AccountStore.known(kind, hashes, in: transaction)
        if let known = try await Account(known, audit: audit, in: transaction) { return known }
        // A person who claims an account with this contact would get a second one.
        if try await FreezeStore.isClaiming(hashes.lasting, in: transaction) { throw BusError.claimUnderWay(kind) }
        let account = Account.create(audit: audit, in: transaction)
        try await AccountStore.insert(
            kind, hashes, of: account.id, sealed: keys.seal(contact, for: account.id), in: transaction)
        return account
    }

    /// - Parameters:
    ///   - app: the publishable key of the app; `nil` for the default app.
    ///   - language: the language tag that the device asks for; `nil` if it asks for none.
    ///   - now: by the database's clock.
    @Loop func open(
        _ account: Account, _ claim: DeviceClaim, by method: SignInMethod, app: String?, language: String?,
        now: Timestamp,
        in transaction: Transaction
    ) async throws -> Session {
        if account.isNew {
            try await outbox.publish(AccountCreated(personID: account.id, createdAt: now), in: transaction)
        }
        let (device, secret) = try await device(claim, of: account, language: language, in: transaction)
        if secret != nil, !account.isNew {
            try await notifier.notify(
                account.id, .newDevice,
                [
                    "deviceId": device.description, "platform": claim.platform,
                    "at": now.description,
                ], except: device, in: transaction)
        }
        let (session, access, refresh) = (Identifier.ordered(), Identifier.ordered(), SecretToken.make(prefix: "rf"))
        SessionStore.insert(
            session, person: account.id, device: device, by: method, app: app, access: access,
            refresh: secrets.hash(of: refresh), in: transaction)
        audit.note(
            AuditAct(
                "session_opened",
                [
                    "session": session.description, "device": device.description,
                    "by": method.name,
                ]),
            on: account.chain, in: transaction)
        let grant = roles.grant(account.role, hasIdentity: method.provider != nil, openedAt: now, now: now)
        return Session(
            accessToken: try keys.issuer(at: now).token(
                id: access, person: account.id, session: session, app: app, grant: grant, now: now),
            expiresInSeconds: grant.lifetime, refreshToken: refresh, sessionId: session, deviceId: device,
            deviceSecret: secret, isNewUser: account.isNew, user: .init(id: account.id, onboardingStatus: nil))
    }

    /// The known device if the claim has its secret; otherwise a new device with a new secret.
    @Loop private func device(
        _ claim: DeviceClaim, of account: Account, language: String?, in transaction: Transaction
    ) async throws -> (id: Identifier, secret: String?) {
        if let id = claim.id, let secret = claim.secret,
            let known = try await DeviceStore.locked(id, person: account.id, in: transaction),
            constantTimeEqual(known.secretHash, secrets.hash(of: secret))
        {
            let push = try tokens.replacement(of: known, with: claim.pushToken, in: transaction)
            DeviceStore.touch(id, claim: claim, push: push, language: language, in: transaction)
            return (id, nil)
        }
        let (id, secret) = (Identifier.ordered(), SecretToken.make(prefix: "ds"))
        DeviceStore.insert(
            id, person: account.id, secret: secrets.hash(of: secret), claim: claim,
            push: tokens.sealed(claim.pushToken, of: id), language: language, in: transaction)
        audit.note(AuditAct("device_added", ["device": id.description]), on: account.chain, in: transaction)
        return (id, secret)
    }

    /// Asks profile for the onboarding status; `nil` if profile gives none within 300 ms. The sign-in does not fail
    /// because of that.
    ///
    /// - Parameter entry: how the person came to the app. Profile stores it for a person who is new there.
    @Loop func onboardingStatus(
        of session: Session, entry: String? = nil, _ context: RequestContext
    ) async -> String? {
        let timeout = min(Duration.milliseconds(300), context.remaining)
        let options = CallOptions(timeout: timeout, trace: context.trace.child())
        return try? await bus.call(
            GetOnboarding(personID: session.user.id, app: Self.app(of: session.accessToken), entry: entry), options
        ).onboardingStatus
    }

    /// The claim `app` of an access token that this service has just issued.
    private static func app(of token: String) -> String? {
        let parts = token.utf8.split(separator: UInt8(ascii: "."))
        guard parts.count == 3, let claims = Base64URL.decode(String(Substring(parts[1]))) else { return nil }
        return try? JSONDocument(claims).root["app"]?.string
    }
}
