/// Base64 with the URL alphabet and without padding (RFC 4648, section 5).
package enum Base64URL {
    /// The text for some bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        var (digits, bits, count) = ([UInt8](), 0, 0)
        digits.reserveCapacity((bytes.count * 4 + 2) / 3)
        for byte in bytes {
            (bits, count) = (bits << 8 & 0xFFFF | Int(byte), count + 8)
            while count >= 6 {
                count -= 6
                digits.append(digit(UInt8(bits >> count & 63)))
            }
        }
        if count > 0 { digits.append(digit(UInt8(bits << (6 - count) & 63))) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Decodes a text. Each value has exactly one text. So the result is `nil` for another alphabet, padding, white
    /// space, an impossible length, or unused bits that are not zero.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8
        guard digits.count % 4 != 1 else { return nil }
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        bytes.reserveCapacity(digits.count * 3 / 4)
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            (bits, count) = (bits << 6 & 0x3FFF | Int(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(bits >> count & 255))
        }
        return bits & (1 << count - 1) == 0 ? bytes : nil
    }

    /// - Parameter value: from 0 to 63.
    private static func digit(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Bytes as lower-case hexadecimal digits.
package enum Hex {
    /// The text for some bytes, in lower case.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// - Parameter value: from 0 to 15.
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Decodes a text in either case; `nil` for an odd length or any other character.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
