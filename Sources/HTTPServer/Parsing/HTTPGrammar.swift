import Values

/// The character classes of RFC 9110 and 9112.
enum HTTPGrammar {
    static let cr = UInt8(ascii: "\r")
    static let lf = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
    static let colon = UInt8(ascii: ":")

    /// A set of ASCII characters, one bit for each.
    struct Characters: Sendable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        /// The set of letters, digits and `marks`.
        init(alphanumericsAnd marks: String) {
            for byte in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz\(marks)".utf8 {
                if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
            }
        }

        func contains(_ byte: UInt8) -> Bool {
            byte < 128 && (byte < 64 ? low : high) & (1 << UInt64(byte & 63)) != 0
        }
    }

    /// The characters of method names and header names.
    static let token = Characters(alphanumericsAnd: "!#$%&'*+-.^_`|~")
    private static let target = Characters(alphanumericsAnd: "-._~:/?@!$&'()*+,;=%[]")
    private static let host = Characters(alphanumericsAnd: "-._~:!$&'()*+,;=%[]")

    /// Whether the bytes are the grammar's token: at least one byte, and each one in ``token``.
    static func isToken(_ bytes: Span<UInt8>) -> Bool {
        let token = token
        for index in bytes.indices { guard token.contains(bytes[index]) else { return false } }
        return !bytes.isEmpty
    }

    /// The characters of a request target. Two hexadecimal digits must follow each `%`.
    static func isTarget(_ bytes: Span<UInt8>) -> Bool {
        let target = target
        for index in bytes.indices {
            guard target.contains(bytes[index]) else { return false }
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, hexDigit(bytes[index + 1]) != nil, hexDigit(bytes[index + 2]) != nil
                else { return false }
            }
        }
        return !bytes.isEmpty
    }

    /// The grammar of `Host`. It is never empty, since no `http` URI has an empty host.
    static func isHost(_ text: String) -> Bool {
        let host = host
        return !text.isEmpty && text.utf8.allSatisfy(host.contains)
    }

    /// The bytes of header values: no control character except the tab.
    static func isFieldContent(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == tab }

    /// Whether the bytes are the value of a header: no control character except the tab, and UTF-8.
    static func isFieldContent(_ bytes: Span<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var (place, isASCII) = (0, true)
            while true {
                place += PrintableASCII.prefix(of: UnsafeRawBufferPointer(rebasing: bytes[place...]))
                guard place < bytes.count else { break }
                guard isFieldContent(bytes[place]) else { return false }
                if bytes[place] >= 0x80 { isASCII = false }
                place += 1
            }
            return isASCII || String(validating: bytes, as: UTF8.self) != nil
        }
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The bytes without spaces and tabs at both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes
    }

    static func hexDigit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 0x30
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte) - 0x37
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte) - 0x57
        default: nil
        }
    }

    /// The number in a `Content-Length`; `nil` unless it is 1 to 15 digits.
    static func decimal(_ text: String) -> Int? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
