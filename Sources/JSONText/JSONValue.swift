/// A JSON value of its own, to build, compare or pass on. To read a text, a ``JSONNode`` is enough.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A finite number. A whole number within `Int64` that is written without fraction and exponent is `.integer`.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}
