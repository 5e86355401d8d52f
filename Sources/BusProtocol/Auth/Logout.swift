import JSONText

/// Ends the session of the caller (`POST /auth/logout`).
public struct Logout: BusRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.logout"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public init() {}
}
