import BusProtocol
import Cryptography
import EventLoop
import Foundation
import FoundationNetworking
import JSONText
import ProviderHTTP
import ServiceRuntime

/// Exchanges authorization codes for refresh tokens at Apple, and revokes refresh tokens.
struct AppleClient: Sendable {
    /// Apple or the network failed. Try again later.
    struct TemporaryFailure: Error {}

    let secret: AppleClientSecret
    let tokenURL: URL
    let revokeURL: URL

    /// It is less than the 8 s after which a service that stops is killed.
    private static let patience = Duration.milliseconds(4500)

    /// - Returns: `nil` if Apple refuses the code, since it was used before or is older than five minutes.
    @Loop func refreshToken(for code: String, clientID: String) async throws(TemporaryFailure) -> String? {
        let answer = try await post(
            [("grant_type", "authorization_code"), ("code", code)], clientID: clientID, to: tokenURL)
        guard let body = try? JSONValue.parse(answer.body) else { throw TemporaryFailure() }
        if answer.status == 400, body["error"] == "invalid_grant" { return nil }
        guard answer.status == 200 else { throw TemporaryFailure() }
        return body["refresh_token"]?.stringValue
    }

    /// Returns when Apple has revoked the token.
    @Loop func revoke(_ refreshToken: String, clientID: String) async throws(TemporaryFailure) {
        let answer = try await post(
            [("token", refreshToken), ("token_type_hint", "refresh_token")], clientID: clientID, to: revokeURL)
        guard answer.status == 200 else { throw TemporaryFailure() }
    }

    @Loop private func post(
        _ form: [(name: String, value: String)], clientID: String, to url: URL
    ) async throws(TemporaryFailure) -> ProviderAnswer {
        let now = Timestamp.now().microsecondsSinceEpoch / 1_000_000
        let credentials = [("client_id", clientID), ("client_secret", secret.token(for: clientID, now: now))]
        let answer = await ProviderClient.ask(URLRequest(posting: credentials + form, to: url), within: Self.patience)
        guard case .success(let told) = answer else { throw TemporaryFailure() }
        return told
    }
}

extension AppleClient {
    static let variables: [ConfigurationVariable] = [
        .init(
            "AUTH_APPLE_TOKEN_URL", .text, "https://appleid.apple.com/auth/token",
            "The URL that exchanges Apple's codes"),
        .init(
            "AUTH_APPLE_REVOKE_URL", .text, "https://appleid.apple.com/auth/revoke",
            "The URL that revokes Apple's tokens"),
        .init("AUTH_APPLE_TEAM_ID", .text, nil, "The team's id at Apple; if empty, no code is exchanged"),
        .init("AUTH_APPLE_KEY_ID", .text, nil, "The id of the team's key at Apple"),
        .init("AUTH_APPLE_KEY", .text, nil, "The team's key file from Apple, in PEM", isSecret: true),
    ]

    /// `nil` if no team is configured.
    init?(_ configuration: Configuration) throws(ConfigurationError) {
        tokenURL = try ProviderSettings.url("AUTH_APPLE_TOKEN_URL", configuration)
        revokeURL = try ProviderSettings.url("AUTH_APPLE_REVOKE_URL", configuration)
        guard let teamID = configuration.optionalText("AUTH_APPLE_TEAM_ID") else { return nil }
        guard let key = P256PrivateKey(pem: try configuration.text("AUTH_APPLE_KEY")) else {
            throw ConfigurationError("AUTH_APPLE_KEY is not a PEM key on the curve P-256")
        }
        secret = AppleClientSecret(
            teamID: teamID, keyID: try configuration.text("AUTH_APPLE_KEY_ID"), key: key,
            audience: try configuration.text("AUTH_APPLE_ISSUER"))
    }
}
