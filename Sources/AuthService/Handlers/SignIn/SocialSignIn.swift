import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Signs in with an identity provider's token. It opens the account that the identity is linked to. If there is none,
/// it begins a link.
struct SocialSignIn: Sendable {
    let inbox: Inbox
    let audit: AuditTrail
    let secrets: Secrets
    let providers: IdentityProviders
    let opener: SessionOpener
    let apple: AppleTokens

    /// The lifetime of a link token in seconds.
    static let linkLifetime: Int64 = 600

    /// What a client presents to sign in.
    struct Presented: Sendable {
        let provider: IdentityProviderName
        let token: String
        let nonce: String
        let device: DeviceClaim
        /// Apple's code, which is exchanged for a refresh token.
        let authorizationCode: String?
    }

    @Loop func signIn(_ presented: Presented, _ context: RequestContext) async throws -> SocialSignedIn {
        let identity = try await providers.identity(
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
                account = try await IdentityStore.account(hash, audit: audit, in: transaction)
            } catch let error as BusError {
                return .refusal(BusError(.forbidden, error.detail, executed: .yes))
            }
            guard let account else { return .reply(try beginLink(identity, hash, in: transaction)) }
            IdentityStore.touch(
                hash, sealed: try identity.email.map { _ in try secrets.seal(identity) }, in: transaction)
            return .reply(
                .session(
                    try await opener.open(
                        account, presented.device, by: presented.provider, now: now, in: transaction)))
        }
        guard case .session(var session) = answer else { return answer }
        session.user.onboardingStatus = await opener.onboardingStatus(of: session.user.id, context)
        return .session(session)
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
