/// A set of values to which later releases of the server may add. An unknown value decodes like a known one.
///
/// A `switch` over one has a `default`, which shows something general.
public protocol OpenEnum: RawRepresentable, Codable, Hashable, Sendable where RawValue == String {
    /// The value as it goes over the wire.
    var rawValue: String { get }
    /// Any value, known or not.
    init(rawValue: String)
}
