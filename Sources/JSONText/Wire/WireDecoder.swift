/// Reads `Decodable` values from a ``JSONNode``, directly from the tape.
///
/// The schema reports the problems of a text with their paths. The errors here have no path.
struct WireDecoder: Decoder {
    let node: JSONNode

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node.kind == .object else { throw Self.mismatch("an object") }
        return KeyedDecodingContainer(WireKeyedDecoding<Key>(node: node))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard node.kind == .array else { throw Self.mismatch("an array") }
        return WireUnkeyedDecoding(elements: node.elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { WireSingleDecoding(node: node) }

    static func mismatch(_ expected: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "expected \(expected)"))
    }
    static func missing(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(key, .init(codingPath: [], debugDescription: "is missing"))
    }
}

extension JSONNode {
    fileprivate func boolean() throws -> Bool {
        guard let value = bool else { throw WireDecoder.mismatch("a boolean") }
        return value
    }
    fileprivate func text() throws -> String {
        guard let value = string else { throw WireDecoder.mismatch("a string") }
        return value
    }
    fileprivate func double() throws -> Double {
        guard let value = number else { throw WireDecoder.mismatch("a number") }
        return value
    }
    fileprivate func whole<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        guard let integer, let value = Value(exactly: integer) else { throw WireDecoder.mismatch("a whole number") }
        return value
    }
    fileprivate func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == JSONValue.self, let value = value as? Value { return value }
        return try Value(from: WireDecoder(node: self))
    }
}

private struct WireKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { node.members.compactMap { Key(stringValue: $0.name) } }

    private func find(_ key: Key) throws -> JSONNode {
        guard let found = node[key.stringValue] else { throw WireDecoder.missing(key) }
        return found
    }

    func contains(_ key: Key) -> Bool { node[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try find(key).isNull }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try find(key).boolean() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try find(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try find(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try find(key).double()) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try find(key).whole(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try find(key).whole(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try find(key).whole(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try find(key).whole(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try find(key).whole(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try find(key).whole(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try find(key).whole(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try find(key).whole(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try find(key).whole(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try find(key).whole(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try find(key).decode(type) }

    /// For an optional, a missing member and `null` are the same. One search covers both.
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let found = node[key.stringValue], !found.isNull else { return nil }
        return try found.text()
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let found = node[key.stringValue], !found.isNull else { return nil }
        return try found.decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try WireDecoder(node: find(key)).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try WireDecoder(node: find(key)).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { WireDecoder(node: node) }
    func superDecoder(forKey key: Key) throws -> any Decoder { WireDecoder(node: try find(key)) }
}

private struct WireUnkeyedDecoding: UnkeyedDecodingContainer {
    let elements: [JSONNode]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: [JSONNode]) { self.elements = elements }

    private mutating func take() throws -> JSONNode {
        guard !isAtEnd else { throw WireDecoder.mismatch("another element") }
        defer { currentIndex += 1 }
        return elements[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode(_ type: String.Type) throws -> String { try take().text() }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try take().decode(type) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try WireDecoder(node: take()).container(keyedBy: type) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try WireDecoder(node: take()).unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { WireDecoder(node: try take()) }
}

private struct WireSingleDecoding: SingleValueDecodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { node.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try node.boolean() }
    func decode(_ type: String.Type) throws -> String { try node.text() }
    func decode(_ type: Double.Type) throws -> Double { try node.double() }
    func decode(_ type: Float.Type) throws -> Float { Float(try node.double()) }
    func decode(_ type: Int.Type) throws -> Int { try node.whole(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try node.whole(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try node.whole(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try node.whole(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try node.whole(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try node.whole(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try node.whole(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try node.whole(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try node.whole(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try node.whole(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try node.decode(type) }
}
