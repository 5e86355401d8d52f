import BusProtocol
import EventLoop
import JSONText
import ProviderHTTP
import ServiceRuntime

/// The identity providers that are switched on: those with client ids in the configuration.
@Loop struct IdentityProviders {
    private struct Source {
        let provider: IdentityProvider
        let keys: ProviderKeyStore
    }

    private let sources: [IdentityProviderName: Source]
    private let log: Log

    init(_ configuration: Configuration, log: Log) throws(ConfigurationError) {
        self.log = log
        var sources: [IdentityProviderName: Source] = [:]
        for name in IdentityProviderName.allCases {
            let prefix = "AUTH_\(name.rawValue.uppercased())_"
            let keys = ProviderKeyStore(url: try ProviderSettings.url("\(prefix)JWKS_URL", configuration))
            let audiences = Set(configuration.list("\(prefix)AUDIENCES"))
            guard !audiences.isEmpty else { continue }
            keys.onAnswer = { [log] isAnswered in
                guard !isAnswered else { return }
                log.warning("identity_keys_not_answered", ["provider": .string(name.rawValue)])
            }
            sources[name] = Source(
                provider: IdentityProvider(
                    name: name, issuer: try configuration.text("\(prefix)ISSUER"), audiences: audiences,
                    takesRawNonce: try configuration.boolean("AUTH_SOCIAL_RAW_NONCE")),
                keys: keys)
        }
        self.sources = sources
    }

    /// The providers that are switched on.
    var served: [IdentityProviderName] { IdentityProviderName.allCases.filter { sources[$0] != nil } }

    /// - Throws: ``BusError`` `method_not_available` if the provider is not switched on, and
    ///   `identity_provider_unavailable` if none of its tokens could be checked now.
    func mustBeReady(_ name: IdentityProviderName) async throws(BusError) {
        let source = try source(name)
        do { try await source.keys.mustBeKnown() } catch { throw Self.unavailable(name) }
    }

    private func source(_ name: IdentityProviderName) throws(BusError) -> Source {
        guard let source = sources[name] else {
            throw BusError(
                .methodNotAvailable, "Signing in with \(name.title) is not offered here. Please choose another way.")
        }
        return source
    }

    /// Requests the keys of every provider that is switched on.
    func renewKeys() async {
        for source in sources.values { await source.keys.renew() }
    }

    /// The time between two calls of ``renewKeys()``.
    static let renewal = Duration.seconds(600)

    /// The identity in a token, after all checks.
    ///
    /// - Throws: ``BusError`` `identity_token_invalid`, `method_not_available`, `identity_provider_unavailable`.
    func identity(
        _ token: String, nonce: String, by name: IdentityProviderName
    ) async throws(BusError) -> ProvenIdentity {
        try await signIn(token, nonce: nonce, by: name).identity
    }

    /// As ``identity(_:nonce:by:)``, with the person's details from the provider.
    func signIn(
        _ token: String, nonce: String, by name: IdentityProviderName
    ) async throws(BusError) -> (identity: ProvenIdentity, prefill: SignInPrefill?) {
        let verified = try await verified(token, by: name)
        let identity = try refusing(name) { () throws(IdentityTokenRefusal) in
            try verified.identity(nonce: nonce, now: Self.now())
        }
        return (identity, verified.prefill)
    }

    /// A token that the provider signed for this app. Its other claims are not checked yet.
    private func verified(_ token: String, by name: IdentityProviderName) async throws(BusError) -> VerifiedToken {
        let source = try source(name)
        let read = try refusing(name) { () throws(IdentityTokenRefusal) in try IdentityToken(token) }
        let key: ProviderKey?
        do { key = try await source.keys.key(read.kid) } catch { throw Self.unavailable(name) }
        return try refusing(name) { () throws(IdentityTokenRefusal) in
            try read.verified(by: source.provider, key: key, now: Self.now())
        }
    }

    /// Apple's notification about an identity, and the issuer of the identity.
    ///
    /// - Throws: ``BusError`` `identity_token_invalid`, `identity_provider_unavailable`.
    func appleNotification(_ payload: String) async throws(BusError) -> (AppleNotification, issuer: String) {
        let verified = try await verified(payload, by: .apple)
        let notification = try refusing(.apple) { () throws(IdentityTokenRefusal) in
            try AppleNotification(verified, now: Self.now())
        }
        return (notification, verified.provider.issuer)
    }

    /// Logs the reason of a refusal for the operator. The caller does not learn it.
    private func refusing<Value>(
        _ name: IdentityProviderName, _ body: () throws(IdentityTokenRefusal) -> Value
    ) throws(BusError) -> Value {
        do {
            return try body()
        } catch {
            log.info(
                "identity_token_refused", ["provider": .string(name.rawValue), "reason": .string("\(error)")])
            throw BusError.identityTokenInvalid(name)
        }
    }

    private static func unavailable(_ name: IdentityProviderName) -> BusError {
        BusError(
            .identityProviderUnavailable, "Signing in with \(name.title) is not available right now.",
            retryAfter: .seconds(30))
    }

    private static func now() -> Int64 { Timestamp.now().microsecondsSinceEpoch / 1_000_000 }
}

extension BusError {
    static func identityTokenInvalid(_ name: IdentityProviderName) -> BusError {
        BusError(.identityTokenInvalid, "\(name.title) did not confirm this sign-in. Please try again.")
    }
}

extension IdentityProviders {
    nonisolated static let variables: [ConfigurationVariable] = [
        .init("AUTH_APPLE_ISSUER", .text, "https://appleid.apple.com", "`iss` of Apple's tokens"),
        .init("AUTH_APPLE_JWKS_URL", .text, "https://appleid.apple.com/auth/keys", "The URL of Apple's keys"),
        .init(
            "AUTH_APPLE_AUDIENCES", .list, nil,
            "The app's client ids at Apple; if empty, there is no sign-in with Apple"),
        .init("AUTH_GOOGLE_ISSUER", .text, "https://accounts.google.com", "`iss` of Google's tokens"),
        .init("AUTH_GOOGLE_JWKS_URL", .text, "https://www.googleapis.com/oauth2/v3/certs", "The URL of Google's keys"),
        .init(
            "AUTH_GOOGLE_AUDIENCES", .list, nil,
            "The app's client ids at Google; if empty, there is no sign-in with Google"),
        .init(
            "AUTH_SOCIAL_RAW_NONCE", .boolean, "false",
            "Whether to accept identity tokens with the nonce itself, too, not only with its SHA-256"),
    ]
}
