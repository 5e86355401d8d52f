/// A JSON value that stands by itself: what is built, compared or passed on. What is only read stays a ``JSONNode``.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Finite; a whole number within the range of `Int64` that was written without fraction or exponent is `.integer`.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}
