/// Wire name of a message: `service.verb-object`, lower case.
public struct MessageType: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }
    public var description: String { rawValue }
}

/// Name of a service on the bus. An open set: an older reader meets names that it does not know.
public struct ServiceName: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }
    public var description: String { rawValue }

    public static let auth: ServiceName = "auth"
    public static let profile: ServiceName = "profile"
    public static let questionnaire: ServiceName = "questionnaire"
    public static let recovery: ServiceName = "recovery"
    public static let gateway: ServiceName = "gateway"
    // Services that are still to come, and whose word counts already.
    public static let visualPreference: ServiceName = "visual-preference"
    public static let verification: ServiceName = "verification"
    /// The command-line tool in an operator's hands.
    public static let `operator`: ServiceName = "operator"
}
