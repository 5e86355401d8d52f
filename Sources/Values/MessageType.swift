/// The wire name of a message: `service.verb-object`, in lower case.
public struct MessageType: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }
    public var description: String { rawValue }
}

/// The name of a service on the bus; an open set. An older reader may meet names that it does not know.
public struct ServiceName: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }
    public var description: String { rawValue }

    /// Phones, codes, sessions and identities.
    public static let auth: ServiceName = "auth"
    /// Profiles, the age gate and onboarding.
    public static let profile: ServiceName = "profile"
    /// Questionnaires and their answers.
    public static let questionnaire: ServiceName = "questionnaire"
    /// Recoveries of accounts.
    public static let recovery: ServiceName = "recovery"
    /// The HTTP gateway.
    public static let gateway: ServiceName = "gateway"
    /// Visual preferences.
    public static let visualPreference: ServiceName = "visual-preference"
    /// Photos, and verification of persons by photos and documents.
    public static let verification: ServiceName = "verification"
    /// The command-line tool of an operator.
    public static let `operator`: ServiceName = "operator"

    /// Every service that holds data about people, in the order of a person's export. Auth comes first, since it decides
    /// whether the person may have the export.
    public static let services: [ServiceName] = [
        .auth, .profile, .questionnaire, .recovery, .visualPreference, .verification,
    ]

    /// The name without hyphens, for SQL. In upper case, it is a part of the names of variables.
    public var identifier: String { rawValue.replacing("-", with: "_") }
}
