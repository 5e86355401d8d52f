import JSONText

/// Makes a structure a message, or a part of one. Each stored property becomes a member of the JSON object.
///
/// It adds:
/// - an initialiser, unless the structure has its own;
/// - ``MessageValue/schema``;
/// - reading and writing;
/// - ``PublicRequest/sources``, if members come from outside the body.
///
/// A property with an optional type is an optional member. The first paragraph of its doc comment is its description in
/// the schema.
@attached(
    member, names: named(init), named(schema), named(write), named(sources), named(CodingKeys), named(encode))
public macro Message() = #externalMacro(module: "MessageMacros", type: "Message")

/// Says what the type of a property of a ``Message()`` cannot say.
///
/// - Parameters:
///   - schema: bounds of the value; with `count`, of each element.
///   - count: how many elements an array or a dictionary may have.
///   - isRequired: the member must be present although its type is optional; `nil` is `null`.
///   - writesNull: an optional member is written as `null` if it is `nil`.
///   - name: the member's name in JSON, if it differs from the property's.
///   - from: where the gateway takes the value from; the JSON body by default.
///   - isDeprecated: another member has taken its place. It stays for one version of the public API.
///   - example: what the member holds in examples of the documents. Without it they have what `ExampleWords` says of the
///     name, or any value that fits.
///   - inExamples: `true` if an example of a request would be refused without this optional member, `false` if it would be
///     refused or mislead with it.
@attached(peer)
public macro Field(
    _ schema: JSONSchema? = nil, count: ClosedRange<Int>? = nil, isRequired: Bool = false, writesNull: Bool = false,
    name: String? = nil, from: HTTPRoute.Source? = nil, isDeprecated: Bool = false, example: JSONValue? = nil,
    inExamples: Bool? = nil
) = #externalMacro(module: "MessageMacros", type: "Field")

/// A type that can be part of a message. It is `Codable`, and reads and writes itself faster than through `Codable`.
public protocol MessageValue: JSONCoded, Codable, Sendable, Equatable {
    /// The schema of its JSON.
    static var schema: JSONSchema { get }
}

extension Bool: MessageValue {
    public static var schema: JSONSchema { .boolean }
}

extension JSONValue: MessageValue {
    public static var schema: JSONSchema { .any }
}

extension Identifier: MessageValue {
    public static var schema: JSONSchema { .uuid }
}

extension Timestamp: MessageValue {
    public static var schema: JSONSchema { .dateTime }
}

extension CivilDate: MessageValue {
    public static var schema: JSONSchema { .date }
}

/// Identifiers, dates and times are strings in JSON.
extension MessageValue where Self: LosslessStringConvertible {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard let value = Self(try String(json: json)) else { throw JSONMismatch(String(describing: Self.self)) }
        self = value
    }
    public func write(to json: JSONOutput) { json.put(quoted: description) }
}
