/// Writes `Encodable` values as JSON straight into bytes.
///
/// One buffer for the whole text: a value is written where its container stands, and an object's members are put in the
/// order of their names when it is closed. That holds for types that write one container at a time, which is what the
/// compiler makes; a nested container is refused.
final class WireEncoder: Encoder {
    /// An object or an array that is being written.
    private struct Frame {
        let isObject: Bool
        let start: Int
        /// Name and place of each member, in the order in which they came.
        var members: [(name: String, start: Int)] = []
        var isSorted = true
        var count = 0
    }

    private(set) var text: [UInt8] = []
    private var frames: [Frame] = []
    private(set) var failure: WireCodingError?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init() { text.reserveCapacity(512) }

    // MARK: Values

    func write(_ value: some Encodable) throws {
        if let json = value as? JSONValue { return CanonicalJSON.write(json, to: &text) }
        if let members = value as? [String: JSONValue] { return CanonicalJSON.write(.object(members), to: &text) }
        let depth = frames.count
        let start = text.count
        try value.encode(to: self)
        while frames.count > depth { closeFrame() }
        // A type without members asks for no container.
        if text.count == start { text += [UInt8(ascii: "{"), UInt8(ascii: "}")] }
    }

    func write(_ value: String) { CanonicalJSON.write(value, to: &text) }
    func write(_ value: Bool) { text += value ? Self.true : Self.false }
    func writeNull() { text += Self.null }
    func writeInteger(_ value: some BinaryInteger) { CanonicalJSON.writeDigits(of: value, to: &text) }

    func write(_ value: Double) throws {
        guard value.isFinite else { throw WireCodingError.notANumber }
        text += CanonicalJSON.number(value).utf8
    }

    private static let `true` = Array("true".utf8)
    private static let `false` = Array("false".utf8)
    private static let null = Array("null".utf8)

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
        frames.append(Frame(isObject: isObject, start: text.count))
        text.append(UInt8(ascii: isObject ? "{" : "["))
    }

    /// Begins a member of the innermost object; its value follows.
    @inline(__always) func begin(_ key: some CodingKey) {
        separate()
        let name = key.stringValue
        let frame = frames.count - 1
        // Names that come in their order need no sorting when the object is closed.
        if let last = frames[frame].members.last, !last.name.utf8.lexicographicallyPrecedes(name.utf8) {
            frames[frame].isSorted = false
        }
        frames[frame].members.append((name, text.count))
        write(name)
        text.append(UInt8(ascii: ":"))
    }

    /// Begins an element of the innermost array, or a member.
    @inline(__always) func separate() {
        let frame = frames.count - 1
        if frames[frame].count > 0 { text.append(UInt8(ascii: ",")) }
        frames[frame].count += 1
    }

    var elementCount: Int { frames.last?.count ?? 0 }

    private func closeFrame() {
        let frame = frames.removeLast()
        if frame.isObject { sort(frame) }
        text.append(UInt8(ascii: frame.isObject ? "}" : "]"))
    }

    private func sort(_ frame: Frame) {
        guard !frame.isSorted else { return }
        let members = frame.members
        // Each ends where the comma before the next stands, the last one at the end.
        let ends = members.dropFirst().map { $0.start - 1 } + [text.count]
        let places = zip(members, ends).sorted { $0.0.name.utf8.lexicographicallyPrecedes($1.0.name.utf8) }
        var sorted: [UInt8] = []
        sorted.reserveCapacity(text.count - frame.start)
        for (member, end) in places {
            if !sorted.isEmpty { sorted.append(UInt8(ascii: ",")) }
            sorted += text[member.start..<end]
        }
        text.replaceSubrange((frame.start + 1)..., with: sorted)
    }

    func refuseNesting() { failure = .nestedContainer }
}

/// Why a value cannot be coded.
enum WireCodingError: Error {
    /// JSON has no infinity and no NaN.
    case notANumber
    /// The type asks for a container inside of its own.
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
