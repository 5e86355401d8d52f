import JSONText

/// What an account may do; an open set. A role that this release does not know is passed on, and gives no more than `user`.
public struct Role: RawRepresentable, MessageValue, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    public static let schema = JSONSchema.open("user", "staff", "admin").named(Self.self, "What an account may do.")

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }
    public var description: String { rawValue }

    /// Acts for the account alone.
    public static let user: Role = "user"
    /// Helps people, and reviews recoveries and pictures.
    public static let staff: Role = "staff"
    /// Does everything that staff does, and publishes plans and questionnaires.
    public static let admin: Role = "admin"
}
