import BusProtocol
import JSONText

/// A fact that conditions may look at and that no question asks for: read when a session is opened, and kept with it, so
/// that the same answers show the same questions on every device and every day.
enum SessionFact: Sendable, Hashable {
    /// The language of the definition that the person is asked in.
    case locale
    /// Where the session was opened; known where the client says so.
    case platform
    /// A field of the profile that everybody may see, by its key.
    case profile(String)

    /// - Returns: `nil` for what is no fact, or not for questionnaires to know.
    init?(_ name: String) {
        switch name {
        case "locale": self = .locale
        case "platform": self = .platform
        default:
            let field = name.dropFirst(Self.prefix.count)
            guard name.hasPrefix(Self.prefix), GetFacts.fields.contains(String(field)) else { return nil }
            self = .profile(String(field))
        }
    }

    private static let prefix = "profile."

    var name: String {
        switch self {
        case .locale: "locale"
        case .platform: "platform"
        case .profile(let field): Self.prefix + field
        }
    }

    /// The field of the profile that it is.
    var field: String? { if case .profile(let field) = self { field } else { nil } }

    /// What it is compared with.
    func values(in locales: [String]) -> ConditionParser.Kind {
        switch self {
        case .locale: .listed(locales)
        case .platform: .listed(OpenSession.platforms)
        case .profile: .text
        }
    }

    /// Values of which one comes out of these tests as any does; `nil`: not known.
    ///
    /// - Parameter tests: all on one fact.
    static func samples(_ tests: [FactTest]) -> [JSONValue?] {
        let constants = Set(tests.flatMap(\.rule.texts)).sorted()
        let isAll =
            tests.first.flatMap { SessionFact($0.fact) } == .platform && constants.count == OpenSession.platforms.count
        // Longer than each of them, so none of them. A session that was moved may have another version's language.
        let other = isAll ? [] : [constants.joined() + "-"]
        return (constants + other).map { .string($0) } + [nil]
    }
}
