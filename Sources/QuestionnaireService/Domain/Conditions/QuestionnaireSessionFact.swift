import BusProtocol
import Documents
import JSONText

/// A fact that conditions can use and that is not an answer.
///
/// It is read when a session is opened, and stored with it. So the same answers show the same questions on every device
/// and on every day.
enum QuestionnaireSessionFact: Sendable, Hashable {
    /// The language in which the person is asked.
    case locale
    /// The platform on which the session was opened, if the client names it.
    case platform
    /// A public field of the profile, by its key.
    case profile(String)

    /// `nil` if there is no such fact, or if questionnaires may not know it.
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

    /// The key of the field, for a fact of the profile.
    var field: String? { if case .profile(let field) = self { field } else { nil } }

    /// The kind of values with which the fact is compared.
    func values(in locales: [String]) -> ConditionKind {
        switch self {
        case .locale: .listed(locales)
        case .platform: .listed(OpenSession.platforms)
        case .profile: .text
        }
    }

    /// Sample values that cover all results of these tests; `nil` means unknown.
    ///
    /// - Parameter tests: all tests of one fact.
    static func samples(_ tests: [FactTest]) -> [JSONValue?] {
        let constants = Set(tests.flatMap(\.rule.texts)).sorted()
        let isAll =
            tests.first.flatMap { QuestionnaireSessionFact($0.fact) } == .platform
            && constants.count == OpenSession.platforms.count
        // This value equals none of the constants, since it is longer than each. A session that was moved may have a
        // language of another version.
        let other = isAll ? [] : [constants.joined() + "-"]
        return (constants + other).map { .string($0) } + [nil]
    }
}
