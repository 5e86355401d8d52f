import BusProtocol
import Documents
import JSONText

/// An onboarding plan as in its file. Only its shape has been checked.
struct PlanFile: Decodable, Sendable {
    struct SignIn: Decodable, Sendable {
        var titleKey: String
        var methods: [String]
        var phone: String
    }

    struct AgeRule: Decodable, Sendable, Equatable {
        var minimum: Int
        var under: String
    }

    /// A field of the library. The bounds tighten those of the library.
    struct Field: Decodable, Sendable {
        var field: String
        var need: Plan.Need?
        var labelKey: String?
        var min: Int64?
        var max: Int64?
        var minLength: Int64?
        var maxLength: Int64?
        var maxSelections: Int64?
        var options: [String]?
        /// As for a step.
        var dueAt: Timestamp?

        /// The bounds by their names. A lower bound is tighter if it is higher.
        static let bounds: [(name: String, member: KeyPath<Field, Int64?> & Sendable, isLower: Bool)] = [
            ("min", \.min, true), ("minLength", \.minLength, true), ("max", \.max, false),
            ("maxLength", \.maxLength, false), ("maxSelections", \.maxSelections, false),
        ]
    }

    struct Screen: Decodable, Sendable {
        var key: String
        var titleKey: String
        var fields: [Field]
    }

    /// A text that people accept in one version.
    struct Terms: Decodable, Sendable, Equatable {
        var document: String
        var version: String
        var url: String
    }

    /// It has `screens`, a `questionnaire`, a `task`, `terms` or a task of the `operator`.
    struct Step: Decodable, Sendable {
        var key: String
        var need: Plan.Need
        var screens: [Screen]?
        var questionnaire: String?
        var task: String?
        var terms: [Terms]?
        var `operator`: String?
        /// Without a condition, everybody is shown the step.
        var visibleIf: JSONValue?
        /// From when on the step is past due for people who follow a version without it.
        var dueAt: Timestamp?
    }

    /// The people who leave an older version for this one.
    struct Moves: Decodable, Sendable {
        /// The versions that they follow.
        var from: [Int64]
    }

    /// Keys of fields and steps.
    struct Needs: Decodable, Sendable {
        var due: [String]?
        var wanted: [String]?
    }

    struct Policy: Decodable, Sendable, Equatable {
        var repromptAfterSeconds: Int64?
        var provisionalMaxOffers: Int64?
        var wishes: [Wish]?
    }

    /// A question that asks which trait a person wishes for in others, and the field with people's own trait. The
    /// question is in the plan's first questionnaire.
    struct Wish: Decodable, Sendable, Equatable {
        var question: String
        var field: String
        /// For a field with a number. Without it, the question's options have the keys of the field's options.
        var relative: Relative?
    }

    /// The options for people with a number that is less than one's own, about the same, or more.
    struct Relative: Decodable, Sendable, Equatable {
        /// The difference up to which numbers are about the same.
        var within: Int64
        var less: String
        var same: String
        var more: String
    }

    var key: String
    var version: Int64
    var apps: [String]
    var entries: [String]?
    var locales: [String]
    var defaultLocale: String
    var strings: [String: [String: String]]
    var signIn: SignIn
    var age: AgeRule?
    var steps: [Step]
    var capabilities: [String: Needs]?
    var policy: Policy?
    /// Without it, people stay with the version that they follow.
    var moves: Moves?
    /// The version of which this one began as a copy.
    var derivedFrom: DocumentOrigin?
}

extension PlanFile {
    /// A date of a step or field, with the place of the date.
    struct Dated {
        let pointer: String
        let key: String
        let need: Plan.Need?
        let dueAt: Timestamp
    }

    var dates: [Dated] {
        steps.enumerated().flatMap { place, step in
            let own = step.dueAt.map {
                Dated(pointer: "/steps/\(place)/dueAt", key: step.key, need: step.need, dueAt: $0)
            }
            return [own].compactMap(\.self)
                + (step.screens ?? []).enumerated().flatMap { screen, content in
                    content.fields.enumerated().compactMap { index, field in
                        field.dueAt.map {
                            Dated(
                                pointer: "/steps/\(place)/screens/\(screen)/fields/\(index)/dueAt", key: field.field,
                                need: field.need, dueAt: $0)
                        }
                    }
                }
        }
    }
}

extension PlanFile {
    private static let key = JSONSchema.string(1...64)
    private static let need = JSONSchema.values("required", "encouraged", "optional")
    private static let version = JSONSchema.integer(1...2_147_483_647)
    private static let bound = JSONSchema.integer(-1_000_000...1_000_000)

    private static let field = JSONSchema.object([
        .required("field", key), .optional("need", need), .optional("labelKey", key), .optional("min", bound),
        .optional("max", bound), .optional("minLength", .integer(0...4096)), .optional("maxLength", .integer(0...4096)),
        .optional("maxSelections", .integer(1...500)), .optional("options", .array(of: key, count: 1...500)),
        .optional("dueAt", .dateTime),
    ])

    private static let screen = JSONSchema.object([
        .required("key", key), .required("titleKey", key), .required("fields", .array(of: field, count: 1...64)),
    ])

    private static let terms = JSONSchema.object([
        .required("document", key), .required("version", key), .required("url", .string(1...2048)),
    ])

    private static let step = JSONSchema.object([
        .required("key", key), .required("need", need), .optional("screens", .array(of: screen, count: 1...63)),
        .optional("questionnaire", key),
        .optional("task", .values("visual_preferences", "verification", "id_verification")),
        .optional("terms", .array(of: terms, count: 1...8)), .optional("operator", key), .optional("visibleIf", .any),
        .optional("dueAt", .dateTime),
    ])

    private static let needs = JSONSchema.object([
        .optional("due", .array(of: key, count: 0...64)), .optional("wanted", .array(of: key, count: 0...64)),
    ])

    private static let capabilities = JSONSchema.object(
        Plan.Capability.allCases.map { .optional($0.rawValue, needs) })

    private static let signIn = JSONSchema.object([
        .required("titleKey", key),
        .required("methods", .array(of: .values("phone_code", "email_code", "google", "apple"), count: 1...4)),
        .required("phone", .values("required", "optional", "none")),
    ])

    private static let age = JSONSchema.object([
        .required("minimum", .integer(1...120)), .required("under", .values("soft_block", "refuse")),
    ])

    private static let moves = JSONSchema.object([
        .required("from", .array(of: version, count: 1...1000))
    ])

    private static let relative = JSONSchema.object([
        .required("within", .integer(0...1_000_000)), .required("less", key), .required("same", key),
        .required("more", key),
    ])

    private static let wish = JSONSchema.object([
        .required("question", key), .required("field", key), .optional("relative", relative),
    ])

    private static let policy = JSONSchema.object([
        .optional("repromptAfterSeconds", .integer(3600...31_536_000)),
        .optional("provisionalMaxOffers", .integer(0...1000)), .optional("wishes", .array(of: wish, count: 1...32)),
    ])

    /// The JSON schema of a file.
    static let schema = JSONSchema.object([
        .required("key", key), .required("version", version),
        .required("apps", .array(of: key, count: 0...100)), .optional("entries", .array(of: key, count: 0...1000)),
        .required("locales", .array(of: key, count: 1...100)), .required("defaultLocale", key),
        .required("strings", .map(of: .map(of: .string(1...1000), count: 1...5000), count: 1...100)),
        .required("signIn", signIn), .optional("age", age), .required("steps", .array(of: step, count: 1...15)),
        .optional("capabilities", capabilities), .optional("policy", policy),
        .optional("moves", moves), .optional("derivedFrom", DocumentOrigin.schema),
    ])

    /// The schema as a document of JSON Schema 2020-12.
    static var schemaText: String { DocumentText.schema(schema, title: "A plan of onboarding") }
}
