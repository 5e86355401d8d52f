import Documents
import JSONText

/// A definition as in its file. Only its shape has been checked.
struct DefinitionFile: Decodable {
    /// The policy for people with a session in another version.
    struct Policy: Decodable, Equatable {
        /// `offer` or `pin` for each class of change.
        var onPublish: [String: String]?
        var drainDays: Int64?
    }

    struct Dimension: Decodable, Equatable {
        var key: String
        var method: String
        var range: [Int64]?
        var minAnswered: Int?
    }

    struct Section: Decodable {
        var key: String
        var titleKey: String?
        var questions: [Question]
        var visibleIf: JSONValue?
        var `repeat`: Repeat?
    }

    struct Repeat: Decodable, Equatable {
        var subject: String
        var min: Int
        var max: Int
        var label: String?
    }

    struct Question: Decodable {
        var key: String
        var slug: String?
        var type: String
        var textKey: String
        var helpKey: String?
        var required: Bool?
        var skippable: Bool?
        var declinable: Bool?
        var `default`: JSONValue?
        var presentation: String?
        var constraints: Constraints?
        var options: [Option]?
        var score: [String: JSONValue]?
        var visibleIf: JSONValue?
        var requiredIf: JSONValue?
        var defaultCounts: Bool?
        var meaningRev: Int?
        var extract: Extract?
        var preference: Preference?
        /// `health`: answers are sealed.
        var sensitive: String?
    }

    /// The part of a question that asks which answers of other people the person accepts.
    struct Preference: Decodable, Equatable {
        var acceptable: Bool
        var importance: [Int64]
    }

    /// The field of the profile that an answer also fills.
    struct Extract: Decodable, Equatable {
        var profileField: String
    }

    struct Constraints: Decodable {
        var min: JSONValue?
        var max: JSONValue?
        var step: JSONValue?
        var topK: Int?
        var minLength: Int?
        var maxLength: Int?
        var minLabelKey: String?
        var maxLabelKey: String?
        var earliest: String?
        var latest: String?
        var minAge: Int?
        var maxAge: Int?
        var pattern: String?
        var other: Other?
    }

    struct Other: Decodable {
        var maxCount: Int
        var maxLength: Int
    }

    struct Option: Decodable {
        var key: String
        var labelKey: String
        var exclusive: Bool?
        var visibleIf: JSONValue?
        var score: [String: JSONValue]?
    }

    var key: String
    var version: Int64
    var status: String?
    var contentHash: String?
    var derivedFrom: DocumentOrigin?
    var titleKey: String
    var locales: [String]
    var defaultLocale: String
    var strings: [String: [String: String]]
    var dimensions: [Dimension]?
    var sections: [Section]
    var migrations: [JSONValue]?
    var policy: Policy?
}

extension DefinitionFile {
    private static let key = JSONSchema.string(1...64)
    private static let bound = JSONSchema.number(-1e9...1e9)

    private static let constraints = JSONSchema.object([
        .optional("min", bound), .optional("max", bound), .optional("step", .number(0.001...1e9)),
        .optional("topK", .integer(1...500)),
        .optional("minLength", .integer(0...4096)), .optional("maxLength", .integer(1...4096)),
        .optional("minLabelKey", key), .optional("maxLabelKey", key),
        .optional("earliest", .date), .optional("latest", .date),
        .optional("minAge", .integer(0...200)), .optional("maxAge", .integer(0...200)),
        .optional("pattern", key),
        .optional(
            "other",
            .object([.required("maxCount", .integer(1...100)), .required("maxLength", .integer(1...1000))])),
    ])

    private static let option = JSONSchema.object([
        .required("key", key), .required("labelKey", key), .optional("exclusive", .boolean),
        .optional("visibleIf", .any),
        .optional("score", .map(of: .number(0...1), count: 1...32)),
    ])

    private static let preference = JSONSchema.object([
        .required("acceptable", .boolean), .required("importance", .array(of: .integer(0...1000), count: 1...10)),
    ])

    private static let question = JSONSchema.object([
        .required("key", key), .optional("slug", key), .required("type", key), .required("textKey", key),
        .optional("helpKey", key), .optional("required", .boolean), .optional("skippable", .boolean),
        .optional("declinable", .boolean), .optional("default", .any), .optional("presentation", key),
        .optional("constraints", constraints), .optional("options", .array(of: option, count: 1...500)),
        .optional("score", .map(of: .number(0.001...1000), count: 1...32)),
        .optional("visibleIf", .any), .optional("requiredIf", .any), .optional("defaultCounts", .boolean),
        .optional("meaningRev", .integer(1...1_000_000)),
        .optional("extract", .nullable(.object([.required("profileField", key)]))),
        .optional("preference", .nullable(preference)), .optional("sensitive", .values("health")),
    ])

    private static let section = JSONSchema.object([
        .required("key", key), .optional("titleKey", key), .required("questions", .array(of: question, count: 1...500)),
        .optional("visibleIf", .any), .optional("repeat", repetition),
    ])

    private static let repetition = JSONSchema.object([
        .required("subject", key), .required("min", .integer(0...100)), .required("max", .integer(1...100)),
        .optional("label", key),
    ])

    private static let dimension = JSONSchema.object([
        .required("key", key), .required("method", key),
        .optional("range", .array(of: .integer(-1_000_000...1_000_000), count: 2...2)),
        .optional("minAnswered", .integer(0...500)),
    ])

    private static let onPublish = JSONSchema.object(
        ChangeClass.allCases.map { .optional($0.rawValue, .values("offer", "pin")) })

    private static let policy = JSONSchema.object([
        .optional("onPublish", .nullable(onPublish)), .optional("drainDays", .integer(0...3650)),
    ])

    /// The JSON schema of a file.
    static let schema = JSONSchema.object([
        .required("key", key), .required("version", .integer(1...2_147_483_647)),
        .optional("status", .values("draft", "published", "retired")), .optional("contentHash", .string(64...64)),
        .optional("derivedFrom", .nullable(DocumentOrigin.schema)), .required("titleKey", key),
        .required("locales", .array(of: key, count: 1...100)), .required("defaultLocale", key),
        .required("strings", .map(of: .map(of: .string(1...1000), count: 1...5000), count: 1...100)),
        .optional("dimensions", .array(of: dimension, count: 0...32)),
        .required("sections", .array(of: section, count: 1...500)),
        .optional("migrations", .array(of: .any, count: 0...5000)), .optional("policy", .nullable(policy)),
    ])
}
