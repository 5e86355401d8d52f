import JSONText

/// Ends the caller's session.
@Message
public struct Logout: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.logout"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .post, "/auth/logout", .user, "Ends this session.")
}
