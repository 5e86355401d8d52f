import JSONText

/// Exchanges a refresh token for a new pair of tokens. Reuse of an old refresh token ends the whole session.
///
/// A client that lost the reply repeats the call. With the device's secret it may repeat it until a token of a newer
/// pair is used. Without the secret it has ten seconds. Fails with `request_in_progress` if the client used a newer
/// pair while this request was on its way.
@Message
public struct RefreshToken: PublicRequest {
    public typealias Reply = Session
    public static let type: MessageType = "auth.refresh-token"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [.refreshTokenInvalid, .refreshTokenReused, .requestInProgress], replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/token/refresh", .public, "Trades a refresh token for a new pair of tokens.")

    /// The newest refresh token of the session.
    @Field(.string(1...128)) public var refreshToken: String
    /// Proves the device. With it a client may repeat the call after more than ten seconds.
    @Field(.string(1...128)) public var deviceSecret: String?
}
