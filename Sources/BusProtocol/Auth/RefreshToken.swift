import JSONText

/// Trades a refresh token for a new pair (`POST /auth/token/refresh`). An old one used again ends the whole session.
///
/// A client that lost the answer repeats the call. With the device's secret it may do so until a token of a newer pair was used,
/// without it for ten seconds.
public struct RefreshToken: BusRequest {
    public typealias Reply = Session
    public static let type: MessageType = "auth.refresh-token"
    public static let schema = JSONSchema.object([
        .required("refreshToken", .string(1...128)),
        .optional("deviceSecret", .string(1...128), "Proves the device: a lost answer can be asked for late, too"),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once, errors: [.refreshTokenInvalid, .refreshTokenReused],
        replyCarriesToken: true)
    public var refreshToken: String
    public var deviceSecret: String?
    public init(refreshToken: String, deviceSecret: String? = nil) {
        (self.refreshToken, self.deviceSecret) = (refreshToken, deviceSecret)
    }
}
