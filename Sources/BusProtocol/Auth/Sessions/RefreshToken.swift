import JSONText

/// Trades a refresh token for a new pair. An old one used again ends the whole session.
///
/// A client that lost the answer repeats the call. With the device's secret it may do so until a token of a newer pair was used,
/// without it for ten seconds.
@Message
public struct RefreshToken: PublicRequest {
    public typealias Reply = Session
    public static let type: MessageType = "auth.refresh-token"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once, errors: [.refreshTokenInvalid, .refreshTokenReused],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/token/refresh", .public, "Trades a refresh token for a new pair of tokens.")

    @Field(.string(1...128)) public var refreshToken: String
    /// Proves the device: a lost answer can be asked for late, too.
    @Field(.string(1...128)) public var deviceSecret: String?
}
