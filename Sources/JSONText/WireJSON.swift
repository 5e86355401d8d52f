import Foundation

/// Coding of typed messages: Foundation's coders with the settings that make their output the same in every process.
///
/// What comes from outside passes ``JSONDocument`` first: Foundation's decoder takes duplicates, trailing commas and more.
public enum WireJSON {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    /// Keys sorted, slashes plain. Ids, dates and times are types of their own that encode as strings.
    public static func encode(_ value: some Encodable) throws -> [UInt8] { [UInt8](try encoder.encode(value)) }

    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try decoder.decode(type, from: Data(bytes))
    }
}
