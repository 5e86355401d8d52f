/// Writes `Encodable` values as JSON, directly into bytes.
///
/// There is one buffer for the whole text. The encoder writes each value in its final place. When an object is closed,
/// its members are sorted by name.
///
/// This works for types that write one container at a time, as the compiler's implementations do. It refuses a nested
/// container.
final class WireEncoder: Encoder {
    /// An object or an array that is being written.
    private struct Frame {
        let isObject: Bool
        /// The index of its first member among those of all open objects.
        let firstMember: Int
        var isSorted = true
        var count = 0
    }

    private let text = JSONOutput()
    private var frames: [Frame] = []
    private var members: [JSONOutput.Member] = []
    private(set) var failure: WireCodingError?

    var bytes: [UInt8] { text.bytes }
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init() {
        frames.reserveCapacity(8)
        members.reserveCapacity(32)
    }

    // MARK: Values

    func write<Value: Encodable>(_ value: Value) throws {
        // Types are compared first, because a failing cast is the most expensive operation here.
        if Value.self == JSONValue.self, let json = value as? JSONValue { return CanonicalJSON.write(json, to: text) }
        if Value.self == [String: JSONValue].self, let members = value as? [String: JSONValue] {
            return CanonicalJSON.write(members, to: text)
        }
        // Objects below are sorted by names as written, with escapes. A dictionary's names may have escapes.
        if Value.self == [String: String].self, let members = value as? [String: String] {
            return CanonicalJSON.write(members, to: text)
        }
        let (depth, start) = (frames.count, text.count)
        try value.encode(to: self)
        while frames.count > depth { closeFrame() }
        // A type without members opens no container.
        if text.count == start { text.put("{}") }
    }

    func write(_ value: String) { text.put(quoted: value) }
    func write(_ value: Bool) { text.put(value ? "true" : "false") }
    func writeNull() { text.put("null") }
    func writeInteger(_ value: some FixedWidthInteger) {
        text.put(magnitude: UInt64(value.magnitude), isNegative: value < 0)
    }

    func write(_ value: Double) throws {
        guard value.isFinite else { throw WireCodingError.notANumber }
        text.put(ascii: CanonicalJSON.number(value))
    }

    // MARK: Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        open(isObject: true)
        return KeyedEncodingContainer(WireKeyedEncoding<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        open(isObject: false)
        return WireUnkeyedEncoding(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { WireSingleEncoding(encoder: self) }

    private func open(isObject: Bool) {
        frames.append(Frame(isObject: isObject, firstMember: members.count))
        text.put(UInt8(ascii: isObject ? "{" : "["))
    }

    /// Begins a member of the innermost object. Its value follows.
    func begin(_ key: some CodingKey) {
        separate()
        let start = text.count
        text.put(quoted: key.stringValue)
        let member = JSONOutput.Member(start: start, nameEnd: text.count)
        text.put(UInt8(ascii: ":"))
        // Members that are written in order need no sorting when the object is closed.
        let frame = frames.count - 1
        if frames[frame].count > 1, let last = members.last, !text.precedes(last, member) {
            frames[frame].isSorted = false
        }
        members.append(member)
    }

    /// Begins an element of the innermost array, or a member.
    func separate() {
        let frame = frames.count - 1
        if frames[frame].count > 0 { text.put(UInt8(ascii: ",")) }
        frames[frame].count += 1
    }

    var elementCount: Int { frames.last?.count ?? 0 }

    private func closeFrame() {
        let frame = frames.removeLast()
        if !frame.isSorted { text.sort(members[frame.firstMember...]) }
        members.removeSubrange(frame.firstMember...)
        text.put(UInt8(ascii: frame.isObject ? "}" : "]"))
    }

    func refuseNesting() { failure = .nestedContainer }
}

/// Why a value cannot be encoded.
enum WireCodingError: Error {
    /// JSON has no infinity and no NaN.
    case notANumber
    /// The type opens a container inside its own.
    case nestedContainer
}

private struct WireKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: WireEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.begin(key); encoder.writeNull() }
    func encode(_ value: Bool, forKey key: Key) { encoder.begin(key); encoder.write(value) }
    func encode(_ value: String, forKey key: Key) { encoder.begin(key); encoder.write(value) }
    func encode(_ value: Double, forKey key: Key) throws {
        encoder.begin(key); try encoder.write(value)
    }
    func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }
    func encode(_ value: Int, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: Int8, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: Int16, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: Int32, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: Int64, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: UInt, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: UInt8, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: UInt16, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: UInt32, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode(_ value: UInt64, forKey key: Key) { encoder.begin(key); encoder.writeInteger(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        encoder.begin(key); try encoder.write(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.refuseNesting()
        return KeyedEncodingContainer(WireKeyedEncoding<Nested>(encoder: encoder))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.refuseNesting()
        return WireUnkeyedEncoding(encoder: encoder)
    }
    func superEncoder() -> any Encoder {
        encoder.refuseNesting()
        return encoder
    }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

private struct WireUnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: WireEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { encoder.elementCount }

    func encodeNil() { encoder.separate(); encoder.writeNull() }
    func encode(_ value: Bool) { encoder.separate(); encoder.write(value) }
    func encode(_ value: String) { encoder.separate(); encoder.write(value) }
    func encode(_ value: Double) throws { encoder.separate(); try encoder.write(value) }
    func encode<Value: Encodable>(_ value: Value) throws { encoder.separate(); try encoder.write(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.refuseNesting()
        return KeyedEncodingContainer(WireKeyedEncoding<Nested>(encoder: encoder))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.refuseNesting()
        return self
    }
    func superEncoder() -> any Encoder {
        encoder.refuseNesting()
        return encoder
    }
}

private struct WireSingleEncoding: SingleValueEncodingContainer {
    let encoder: WireEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { encoder.writeNull() }
    func encode(_ value: Bool) { encoder.write(value) }
    func encode(_ value: String) { encoder.write(value) }
    func encode(_ value: Double) throws { try encoder.write(value) }
    func encode(_ value: Float) throws { try encoder.write(Double(value)) }
    func encode(_ value: Int) { encoder.writeInteger(value) }
    func encode(_ value: Int8) { encoder.writeInteger(value) }
    func encode(_ value: Int16) { encoder.writeInteger(value) }
    func encode(_ value: Int32) { encoder.writeInteger(value) }
    func encode(_ value: Int64) { encoder.writeInteger(value) }
    func encode(_ value: UInt) { encoder.writeInteger(value) }
    func encode(_ value: UInt8) { encoder.writeInteger(value) }
    func encode(_ value: UInt16) { encoder.writeInteger(value) }
    func encode(_ value: UInt32) { encoder.writeInteger(value) }
    func encode(_ value: UInt64) { encoder.writeInteger(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder.write(value) }
}
