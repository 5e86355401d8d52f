import JSONText

/// Makes a structure a message, or a part of one, from its stored properties: each is a member of the JSON object.
///
/// It adds the initialiser, unless the structure has one of its own; ``MessageValue/schema``; reading and writing; and where
/// members of a request come from that are not in the body (``PublicRequest/sources``). A property whose type is optional is an
/// optional member. The first paragraph of its doc comment describes it to whoever reads the schema.
@attached(
    member, names: named(init), named(schema), named(write), named(sources), named(CodingKeys), named(encode))
public macro Message() = #externalMacro(module: "MessageMacros", type: "Message")

/// Says of a property of a ``Message()`` what its type does not.
///
/// - Parameters:
///   - schema: bounds of the value; with `count`, of each element.
///   - count: how many elements an array or a dictionary may have.
///   - isRequired: the member must be there although its type is optional: `nil` is `null`.
///   - writesNull: a member that may be left out is written as `null` where it is `nil`.
///   - name: the member's name in JSON, where that is another one.
///   - from: where the gateway takes it from; the JSON body where this is left out.
@attached(peer)
public macro Field(
    _ schema: JSONSchema? = nil, count: ClosedRange<Int>? = nil, isRequired: Bool = false, writesNull: Bool = false,
    name: String? = nil, from: HTTPRoute.Source? = nil
) = #externalMacro(module: "MessageMacros", type: "Field")

/// What can stand in a message. It is `Codable`, and reads and writes itself faster than that.
public protocol MessageValue: JSONCoded, Codable, Sendable, Equatable {
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

/// Ids, dates and times stand as texts.
extension MessageValue where Self: LosslessStringConvertible {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard let value = Self(try String(json: json)) else { throw JSONMismatch(String(describing: Self.self)) }
        self = value
    }
    public func write(to json: JSONOutput) { json.put(quoted: description) }
}
