/// The schema of a JSON text: the part of JSON Schema 2020-12 that the bus and the public API need.
public indirect enum JSONSchema: Sendable, Hashable {
    /// Any value.
    case any
    case boolean
    case integer(ClosedRange<Int64>)
    case number(ClosedRange<Double>)
    case string(StringRule)
    case array(of: JSONSchema, count: ClosedRange<Int>)
    /// An object with any member names of 1 to 64 characters.
    case map(of: JSONSchema, count: ClosedRange<Int>)
    case object([Member])
    case nullable(JSONSchema)
    /// A value is read by the first schema that fits. If none fits, the value has the problems of the last schema.
    case anyOf([JSONSchema])
    /// A schema with a name of its own, by which documents of the public API refer to it.
    case named(Name, JSONSchema)

    /// The name of a schema in documents.
    public struct Name: Sendable, Hashable {
        /// Starts with a capital letter: `DeviceClaim`.
        public var text: String
        /// Describes the schema to readers of the document; empty: no description.
        public var words: String

        /// A name with this text and description.
        public init(_ text: String, words: String = "") { (self.text, self.words) = (text, words) }

        /// The type's name after the names of the types around it: `Session.User` is `SessionUser`.
        public init(of type: Any.Type, words: String) {
            // `String(reflecting:)` gives the same text, but first searches the whole program for protocols of the
            // type. That takes 28 µs instead of 0.4 µs for each type of a message, at each start of a process.
            self.init(_typeName(type, qualified: true).split(separator: ".").dropFirst().joined(), words: words)
        }
    }

    /// A member that an object may have. Any other member is a problem.
    public struct Member: Sendable, Hashable {
        /// The name in JSON.
        public var name: String
        /// The schema of the value.
        public var schema: JSONSchema
        /// Whether a missing member is a problem.
        public var isRequired: Bool
        /// One sentence for the reader of the exported schema.
        public var note: String
        /// Whether another member has taken its place. The old member stays for one version of the public API.
        public var isDeprecated: Bool
        /// The member's value in examples of the documents.
        public var example: JSONValue?
        /// Whether examples include this optional member. If it is `nil`, only whole examples include it.
        public var inExamples: Bool?

        /// Takes the name, the schema, and the texts and settings for documents.
        public init(
            _ name: String, _ schema: JSONSchema, isRequired: Bool, note: String = "", isDeprecated: Bool = false,
            example: JSONValue? = nil, inExamples: Bool? = nil
        ) {
            (self.name, self.schema, self.isRequired) = (name, schema, isRequired)
            (self.note, self.isDeprecated, self.example, self.inExamples) = (note, isDeprecated, example, inExamples)
        }

        /// A member that must be present.
        public static func required(
            _ name: String, _ schema: JSONSchema, _ note: String = "", isDeprecated: Bool = false,
            example: JSONValue? = nil
        ) -> Member {
            Member(name, schema, isRequired: true, note: note, isDeprecated: isDeprecated, example: example)
        }
        /// A member that may be missing.
        public static func optional(
            _ name: String, _ schema: JSONSchema, _ note: String = "", isDeprecated: Bool = false,
            example: JSONValue? = nil, inExamples: Bool? = nil
        ) -> Member {
            Member(
                name, schema, isRequired: false, note: note, isDeprecated: isDeprecated, example: example,
                inExamples: inExamples)
        }
    }

    /// The rule for a string.
    public struct StringRule: Sendable, Hashable {
        /// The number of Unicode scalars, as in JSON Schema.
        public var length: ClosedRange<Int>
        /// The form of the text; `nil` for any.
        public var format: StringFormat?
        /// The only values that are allowed; `nil` for any.
        public var values: [String]?
        /// The values of this release, if later releases may have more. Only the documents of the public API list them.
        public var known: [String]?

        /// Makes a rule. By default, a string has at most 4,096 Unicode scalars.
        public init(
            length: ClosedRange<Int> = 0...4096, format: StringFormat? = nil, values: [String]? = nil,
            known: [String]? = nil
        ) {
            (self.length, self.format, self.values, self.known) = (length, format, values, known)
        }
    }

    /// The forms that a string may be required to have.
    public enum StringFormat: String, Sendable, Hashable {
        /// A UUID of any version, in lower case.
        case uuid
        /// `YYYY-MM-DD`, an existing date of the years 0001 to 9999.
        case date
        /// RFC 3339: `2026-02-20T09:00:00Z`. It is written in UTC, with up to six digits of fraction. It is read with any
        /// offset from UTC, and with up to nine digits.
        case dateTime = "date-time"
        /// Six ASCII digits.
        case otp
        /// Visible ASCII characters only.
        case visibleASCII = "visible-ascii"
        /// ASCII letters, digits, `_` and `-` only.
        case key
    }

    // Short forms for the schemas of messages.
    /// A string with this number of Unicode scalars.
    public static func string(_ length: ClosedRange<Int>) -> JSONSchema { .string(StringRule(length: length)) }
    /// One of these strings.
    public static func values(_ values: String...) -> JSONSchema { .string(StringRule(values: values)) }
    /// An open set, of which this release writes these.
    public static func open(_ known: String...) -> JSONSchema { .string(StringRule(length: 1...32, known: known)) }
    /// An open set of strings with other lengths.
    public static func open(_ length: ClosedRange<Int>, _ known: String...) -> JSONSchema {
        .string(StringRule(length: length, known: known))
    }
    /// Visible ASCII characters, this many of them.
    public static func visibleASCII(_ length: ClosedRange<Int>) -> JSONSchema {
        .string(StringRule(length: length, format: .visibleASCII))
    }
    /// A whole number from 0 to 2^53 - 1, which every reader of JSON can hold.
    public static let count = JSONSchema.integer(0...9_007_199_254_740_991)
    /// A whole number from 1 to 2^53 - 1.
    public static let ordinal = JSONSchema.integer(1...9_007_199_254_740_991)
    /// The six digits of a code.
    public static let otp = JSONSchema.string(StringRule(length: 6...6, format: .otp))
    /// A publishable key, of an app for example: 1 to 64 ASCII letters, digits, `_` and `-`.
    public static let publishableKey = JSONSchema.string(StringRule(length: 1...64, format: .key))
    /// A UUID.
    public static let uuid = JSONSchema.string(StringRule(length: 36...36, format: .uuid))
    /// A date, `YYYY-MM-DD`.
    public static let date = JSONSchema.string(StringRule(length: 10...10, format: .date))
    /// A time, by RFC 3339. The length is that of the written form.
    public static let dateTime = JSONSchema.string(StringRule(length: 20...27, format: .dateTime))

    /// This schema under a name.
    public func named(_ name: String, _ words: String = "") -> JSONSchema { .named(Name(name, words: words), self) }
    /// This schema under the name of its Swift type.
    public func named(_ type: Any.Type, _ words: String = "") -> JSONSchema {
        .named(Name(of: type, words: words), self)
    }

    /// The members of an object; none for other schemas.
    public var members: [Member] {
        switch self {
        case .object(let members): members
        case .named(_, let inner): inner.members
        default: []
        }
    }
}

/// One problem of a JSON text.
public struct SchemaProblem: Sendable, Hashable {
    /// The place: member names and indices separated by dots, such as `device.name` and `answers.3.value`; empty for
    /// the whole text.
    public var field: String
    /// The same place as a JSON pointer (RFC 6901). It is unambiguous even if a name has a dot: `/answers/3/value`.
    public var pointer: String
    /// `required`, `unknown_member`, `wrong_type`, `too_short`, `too_long`, `too_small`, `too_large`, `too_few`,
    /// `too_many`, `not_allowed` (not one of the values) or `malformed` (a format does not hold).
    public var code: String
    /// One sentence that a person may see.
    public var message: String

    /// Takes the place in both forms, the code and the sentence.
    public init(field: String, pointer: String, code: String, message: String) {
        (self.field, self.pointer, self.code, self.message) = (field, pointer, code, message)
    }
}
