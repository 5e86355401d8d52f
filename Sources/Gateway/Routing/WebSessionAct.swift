import BusProtocol
import JSONText

/// The operations of a web session, and the members that they carry.
enum WebSessionAct: Sendable {
    case renew, end

    /// The members of a session that the cookie holds.
    static let keptMembers = ["refreshToken", "deviceSecret"]

    /// The body of a renewal.
    static let requestSchema = JSONSchema.object([
        .optional("refreshToken", .string(1...128), "Of the sign-in. Without it, the session is the cookie's."),
        .optional("deviceSecret", .string(1...128), "Of the sign-in, or of an earlier one on this device."),
    ]).named("RenewWebSessionRequest", "What a page has right after a sign-in, and nothing later.")

    /// The answer to a renewal.
    static let replySchema = JSONSchema.object(Session.schema.members.filter { !keptMembers.contains($0.name) })
        .named("WebSession", "A person is signed in on a page. What renews the session is in a cookie.")
}
