/// A set of values to which later releases of the server may add. An unknown value decodes like a known one.
///
/// Give each `switch` over one a `default` that shows something general.
public protocol OpenEnum: RawRepresentable, Codable, Hashable, Sendable where RawValue == String {
    /// The value as the API sends it.
    var rawValue: String { get }
    /// Any value, known or not.
    init(rawValue: String)
}
