/// Coding of typed messages: one text for one value in every process, written and read without a tree in between.
///
/// Foundation's coders take several times as long and read what is no JSON: a member twice, a comma at the end.
public enum WireJSON {
    /// Members in the order of their names, no white space, UTF-8. Ids, dates and times are types of their own that encode
    /// as strings.
    ///
    /// - Throws: where a number is not finite, or a type asks for a nested container.
    public static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = WireEncoder()
        try encoder.write(value)
        if let failure = encoder.failure { throw failure }
        return encoder.bytes
    }

    /// - Throws: ``JSONTextError``, or `DecodingError`.
    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try decode(type, from: JSONDocument(bytes).root)
    }

    /// Of a text that was read already.
    public static func decode<Value: Decodable>(_ type: Value.Type, from node: JSONNode) throws -> Value {
        try Value(from: WireDecoder(node: node))
    }
}
