/// Why a text is not JSON (RFC 8259, read strictly).
public struct JSONTextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable {
        case invalidUTF8 = "invalid_utf8"
        case unexpectedCharacter = "unexpected_character"
        case unexpectedEnd = "unexpected_end"
        case trailingText = "trailing_text"
        case invalidNumber = "invalid_number"
        case invalidEscape = "invalid_escape"
        case controlCharacter = "control_character"
        case nullCharacter = "null_character"
        case duplicateMember = "duplicate_member"
        case tooDeep = "too_deep"
        case tooManyValues = "too_many_values"
    }

    /// The kind of error.
    public var code: Code
    /// The place in bytes, from 0.
    public var offset: Int
    /// The line, from 1.
    public var line: Int
    /// The column, from 1. It counts Unicode scalars, as editors do.
    public var column: Int

    public var description: String { "\(message) at line \(line), column \(column)" }

    /// The problem, without the place and without any part of the text.
    public var message: String {
        switch code {
        case .invalidUTF8: "the text is not UTF-8"
        case .unexpectedCharacter: "unexpected character"
        case .unexpectedEnd: "the text ends too early"
        case .trailingText: "there is text after the value"
        case .invalidNumber: "not a JSON number, or one out of range"
        case .invalidEscape: "invalid escape in a string"
        case .controlCharacter: "control character in a string"
        case .nullCharacter: "U+0000 in a string"
        case .duplicateMember: "a member stands twice in an object"
        case .tooDeep: "nested too deeply"
        case .tooManyValues: "too many values"
        }
    }
}

/// Limits on the depth and the size of a text.
public struct JSONLimits: Sendable {
    /// The most arrays and objects inside each other.
    public var depth: Int
    /// The most values in all. Member names do not count.
    public var values: Int

    /// Takes both limits.
    public init(depth: Int = 16, values: Int = 4096) { (self.depth, self.values) = (depth, values) }

    /// The limits of most messages: 16 levels and 4,096 values.
    public static let standard = JSONLimits()
}
