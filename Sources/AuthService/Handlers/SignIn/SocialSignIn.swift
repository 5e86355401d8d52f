import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Signs in with an identity provider's token. It opens the account that the identity is linked to, or makes one if
/// there is none. If the app requires a phone and there is no account with one, it begins a link instead.
struct SocialSignIn: Sendable {
    let inbox: Inbox
    let audit: AuditTrail
    let secrets: Secrets
    let providers: IdentityProviders
    let opener: SessionOpener
    let apple: AppleTokens
    let rules: SignInRulesReader

    /// The lifetime of a link token in seconds.
    static let linkLifetime: Int64 = 600

    /// The values that a client presents to sign in.
    struct Presented: Sendable {
        let provider: IdentityProviderName
        let token: String
        let nonce: String
        let device: DeviceClaim
        /// Apple's code, which is exchanged for a refresh token.
        let authorizationCode: String?
        /// The publishable key of the app; `nil` for the default app.
        let app: String?
        /// How the person came to the app.
        let entry: String?
    }

    @Loop func signIn(_ presented: Presented, _ context: RequestContext) async throws -> SocialSignedIn {
        let policy = try await rules.policy(app: presented.app, entry: presented.entry, context)
        try policy.mustAllow(.identity(presented.provider))
        let (identity, prefill) = try await providers.signIn(
            presented.token, nonce: presented.nonce, by: presented.provider)
        let answer: SocialSignedIn = try await inbox.once(context, carriesToken: true) { transaction in
            // The first valid token with a nonce uses the nonce up, even if the account is not available.
            guard
                let now = try await NonceStore.spend(
                    secrets.hash(of: presented.nonce), of: presented.provider, in: transaction)
            else { throw BusError.identityTokenInvalid(presented.provider) }
            if let code = presented.authorizationCode {
                try apple.get(code, for: identity, in: transaction)
            }
            let hash = secrets.hash(of: identity)
            let account: Account?
            do {
                account = try await self.account(of: identity, hash, policy, in: transaction)
            } catch let error as BusError {
                return .refusal(BusError(.forbidden, error.detail, executed: .yes))
            }
            guard let account else { return .reply(try beginLink(identity, hash, in: transaction)) }
            IdentityStore.touch(
                hash, sealed: try identity.email.map { _ in try secrets.seal(identity) }, in: transaction)
            return .reply(
                .session(
                    try await opener.open(
                        account, presented.device, by: .identity(presented.provider), app: presented.app,
                        language: context.language, now: now, in: transaction)))
        }
        // The prefill is added outside the transaction, so that it is not stored with the answer.
        switch answer {
        case .session(var session):
            session.user.onboardingStatus = await opener.onboardingStatus(
                of: session, entry: presented.entry, context)
            if session.isNewUser { session.prefill = prefill }
            return .session(session)
        case .phoneVerificationRequired(var wanted):
            wanted.prefill = prefill
            return .phoneVerificationRequired(wanted)
        }
    }

    /// The account that the identity may open. It is made if there is none and the app wants no phone; `nil` if a phone
    /// must be verified first.
    @Loop private func account(
        of identity: ProvenIdentity, _ hash: [UInt8], _ policy: SignInPolicy, in transaction: Transaction
    ) async throws -> Account? {
        let known = try await self.known(hash, in: transaction)
        if policy.requiresPhone {
            guard let known, try await PhoneStore.phone(of: known.id, in: transaction) != nil else { return nil }
            return known
        }
        if let known { return known }
        // A simultaneous first sign-in with the identity waits here and finds the account.
        AccountStore.lock(lasting: hash, in: transaction)
        if let known = try await self.known(hash, in: transaction) { return known }
        // After a recovery of its account, an identity opens nothing until a phone has confirmed it.
        guard try await IdentityStore.owner(hash, in: transaction) == nil else { return nil }
        let account = Account.create(audit: audit, in: transaction)
        let isMine = try await IdentityStore.insert(
            hash, keyID: secrets.identityHash.keyID, person: account.id, provider: identity.provider,
            sealed: try secrets.seal(identity), refresh: nil, in: transaction)
        // A simultaneous link gave the identity to another account. The repeated request finds it.
        guard isMine else { throw DatabaseError.aborted }
        return account
    }

    @Loop private func known(_ hash: [UInt8], in transaction: Transaction) async throws -> Account? {
        try await Account(IdentityStore.account(hash, in: transaction), audit: audit, in: transaction)
    }

    @Loop private func beginLink(
        _ identity: ProvenIdentity, _ hash: [UInt8], in transaction: Transaction
    ) throws -> SocialSignedIn {
        let token = SecretToken.make(prefix: "lk")
        LinkStore.insert(
            secrets.hash(of: token), identity: hash, sealed: try secrets.seal(identity), seconds: Self.linkLifetime,
            in: transaction)
        return .phoneVerificationRequired(.init(linkToken: token, expiresInSeconds: Self.linkLifetime))
    }
}
