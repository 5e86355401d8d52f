import JSONText

/// Trades a refresh token for a new pair (`POST /auth/token/refresh`). An old one used again ends the whole session.
public struct RefreshToken: BusRequest {
    public typealias Reply = Session
    public static let type: MessageType = "auth.refresh-token"
    public static let schema = JSONSchema.object([.required("refreshToken", .string(1...128))])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once, errors: [.refreshTokenInvalid, .refreshTokenReused],
        replyCarriesToken: true)
    public var refreshToken: String
    public init(refreshToken: String) { self.refreshToken = refreshToken }
}
