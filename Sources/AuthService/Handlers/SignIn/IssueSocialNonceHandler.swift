import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

struct IssueSocialNonceHandler: RequestHandler {
    let inbox: Inbox
    let secrets: Secrets
    let providers: IdentityProviders

    /// The lifetime of a nonce in seconds.
    static let lifetime: Int64 = 300

    func handle(_ request: IssueSocialNonce, context: RequestContext) async throws -> SocialNonce {
        let provider = try IdentityProviderName(named: request.provider)
        try await providers.mustBeReady(provider)
        return try await inbox.once(context, carriesToken: true) { transaction in
            let nonce = SecretToken.make(prefix: "nc")
            NonceStore.insert(
                secrets.hash(of: nonce), for: provider, seconds: Self.lifetime, in: transaction)
            return .reply(SocialNonce(nonce: nonce, expiresInSeconds: Self.lifetime))
        }
    }
}

extension IdentityProviderName {
    /// - Throws: ``BusError`` `not_found` for an unknown provider. The schemas already reject it.
    init(named name: String) throws(BusError) {
        guard let known = IdentityProviderName(rawValue: name) else {
            throw BusError(.notFound, "There is no such provider.")
        }
        self = known
    }
}
