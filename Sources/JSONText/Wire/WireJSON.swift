/// Encodes and decodes typed messages. Each value has the same text in every process.
///
/// Foundation's coders take several times as long. They also accept text that is not JSON: a repeated member, or a
/// comma at the end.
public enum WireJSON {
    /// The text in UTF-8: members sorted by name, no white space. Identifiers, dates and times are strings.
    ///
    /// - Throws: if a number is not finite, or if a type opens a nested container.
    public static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = WireEncoder()
        try encoder.write(value)
        if let failure = encoder.failure { throw failure }
        return encoder.bytes
    }

    /// Reads a value from a text.
    ///
    /// - Throws: ``JSONTextError`` or `DecodingError`.
    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try decode(type, from: JSONDocument(bytes).root)
    }

    /// Reads a value from a text that was parsed before.
    ///
    /// - Throws: `DecodingError`.
    public static func decode<Value: Decodable>(_ type: Value.Type, from node: JSONNode) throws -> Value {
        try Value(from: WireDecoder(node: node))
    }
}
