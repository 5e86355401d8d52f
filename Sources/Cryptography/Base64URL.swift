import Foundation

/// Base64 with the URL alphabet and without padding (RFC 4648, section 5).
public enum Base64URL {
    /// The text for some bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes a text. Each value has exactly one text, so it is `nil` for another alphabet, padding, white space, an
    /// impossible length, and unused bits that are not zero.
    public static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count % 4 != 1, !text.utf8.contains(where: { "+/= \n\r".utf8.contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let plain = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        guard let data = Data(base64Encoded: plain) else { return nil }
        let bytes = [UInt8](data)
        return encode(bytes) == text ? bytes : nil
    }
}

/// Bytes as lower-case hexadecimal digits.
public enum Hex {
    /// The text for some bytes, in lower case.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Decodes a text in either case; `nil` for an odd length or any other character.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
