/// What a JSON text must look like: the part of JSON Schema 2020-12 that the bus and the public API need.
public indirect enum JSONSchema: Sendable, Hashable {
    /// Any value at all.
    case any
    case boolean
    case integer(ClosedRange<Int64>)
    case number(ClosedRange<Double>)
    case string(StringRule)
    case array(of: JSONSchema, count: ClosedRange<Int>)
    /// An object with free member names of 1 to 64 characters.
    case map(of: JSONSchema, count: ClosedRange<Int>)
    case object([Member])
    case nullable(JSONSchema)
    /// The first that fits wins; a value that fits none has the problems of the last.
    case anyOf([JSONSchema])

    /// A member that an object may have. Any other member is a problem.
    public struct Member: Sendable, Hashable {
        public var name: String
        public var schema: JSONSchema
        public var isRequired: Bool
        /// One sentence for the person who reads the exported schema.
        public var note: String

        public init(_ name: String, _ schema: JSONSchema, isRequired: Bool, note: String = "") {
            (self.name, self.schema, self.isRequired, self.note) = (name, schema, isRequired, note)
        }

        public static func required(_ name: String, _ schema: JSONSchema, _ note: String = "") -> Member {
            Member(name, schema, isRequired: true, note: note)
        }
        public static func optional(_ name: String, _ schema: JSONSchema, _ note: String = "") -> Member {
            Member(name, schema, isRequired: false, note: note)
        }
    }

    public struct StringRule: Sendable, Hashable {
        /// Unicode scalars, as JSON Schema counts.
        public var length: ClosedRange<Int>
        public var format: StringFormat?
        /// The only values allowed, where given.
        public var values: [String]?

        public init(length: ClosedRange<Int> = 0...4096, format: StringFormat? = nil, values: [String]? = nil) {
            (self.length, self.format, self.values) = (length, format, values)
        }
    }

    public enum StringFormat: String, Sendable, Hashable {
        /// Lower-case UUID of any version.
        case uuid
        /// `YYYY-MM-DD`, a real date of years 0001 to 9999.
        case date
        /// RFC 3339 in UTC: `2026-02-20T09:00:00Z`, up to six digits of a second's fraction.
        case dateTime = "date-time"
        /// Six ASCII digits.
        case otp
        /// Visible ASCII characters only.
        case visibleASCII = "visible-ascii"
    }

    // Short forms for the schemas of messages.
    public static func string(_ length: ClosedRange<Int>) -> JSONSchema { .string(StringRule(length: length)) }
    public static func values(_ values: String...) -> JSONSchema { .string(StringRule(values: values)) }
    /// Visible ASCII characters, so many of them.
    public static func visibleASCII(_ length: ClosedRange<Int>) -> JSONSchema {
        .string(StringRule(length: length, format: .visibleASCII))
    }
    /// A whole number from 0 that every reader of JSON can hold: 2^53 - 1 at the most.
    public static let count = JSONSchema.integer(0...9_007_199_254_740_991)
    /// As ``count``, from 1.
    public static let ordinal = JSONSchema.integer(1...9_007_199_254_740_991)
    /// The six digits of a code.
    public static let otp = JSONSchema.string(StringRule(length: 6...6, format: .otp))
    public static let uuid = JSONSchema.string(StringRule(length: 36...36, format: .uuid))
    public static let date = JSONSchema.string(StringRule(length: 10...10, format: .date))
    public static let dateTime = JSONSchema.string(StringRule(length: 20...27, format: .dateTime))
}

/// One thing that is wrong with a JSON text.
public struct SchemaProblem: Sendable, Hashable {
    /// Where: member names and indices joined by dots, `device.name`, `answers.3.value`; empty for the whole text.
    public var field: String
    /// `required`, `unknown_member`, `wrong_type`, `too_short`, `too_long`, `too_small`, `too_large`, `too_few`,
    /// `too_many`, `not_allowed` (not one of the values) or `malformed` (a format does not hold).
    public var code: String
    /// One sentence that a person may be shown.
    public var message: String

    public init(field: String, code: String, message: String) {
        (self.field, self.code, self.message) = (field, code, message)
    }
}
