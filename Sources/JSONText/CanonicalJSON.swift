/// The JSON Canonicalization Scheme: one text for one value, fit to be hashed. Source: RFC 8785.
public enum CanonicalJSON {
    /// Members sorted by UTF-16 code units, numbers as ECMAScript writes them, no white space, UTF-8.
    public static func bytes(of value: JSONValue) -> [UInt8] {
        var text: [UInt8] = []
        write(value, to: &text)
        return text
    }

    static func write(_ value: JSONValue, to text: inout [UInt8]) {
        switch value {
        case .null: text += "null".utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .integer(let value): writeNumber(value, to: &text)
        case .number(let value): text += number(value).utf8
        case .string(let value): write(value, to: &text)
        case .array(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                write(value, to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            let sorted = members.sorted { precedes($0.key, $1.key) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                write(member.key, to: &text)
                text.append(UInt8(ascii: ":"))
                write(member.value, to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    /// By UTF-16 code units, which is by bytes for names without surrogates and without what stands above them.
    private static func precedes(_ a: String, _ b: String) -> Bool {
        let isPlain = a.utf8.allSatisfy { $0 < 0xee } && b.utf8.allSatisfy { $0 < 0xee }
        return isPlain
            ? a.utf8.lexicographicallyPrecedes(b.utf8) : a.utf16.lexicographicallyPrecedes(b.utf16)
    }

    static func write(_ string: String, to text: inout [UInt8]) {
        var string = string
        string.withUTF8 { write($0, to: &text) }
    }

    private static func write(_ string: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        defer { text.append(UInt8(ascii: "\"")) }
        // Most texts have nothing to escape.
        guard string.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            text.append(contentsOf: string)
            return
        }
        let hex = Array("0123456789abcdef".utf8)
        for byte in string {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case 8: text += "\\b".utf8
            case 9: text += "\\t".utf8
            case 10: text += "\\n".utf8
            case 12: text += "\\f".utf8
            case 13: text += "\\r".utf8
            case 0..<0x20: text += "\\u00".utf8 + [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            default: text.append(byte)
            }
        }
    }

    /// Beyond 2^53 a number of ECMAScript is the nearest double.
    private static func writeNumber(_ value: Int64, to text: inout [UInt8]) {
        if value.magnitude <= 1 << 53 { writeDigits(of: value, to: &text) } else { text += number(Double(value)).utf8 }
    }

    static func writeDigits(of value: some BinaryInteger, to text: inout [UInt8]) {
        let first = text.count
        var rest = value.magnitude
        repeat {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        if value < 0 { text.append(UInt8(ascii: "-")) }
        text[first...].reverse()
    }

    /// Source: ECMA-262, Number::toString, radix 10, over Swift's shortest digits that read back as the same value.
    static func number(_ value: Double) -> String {
        precondition(value.isFinite, "JSON has no such number")
        if value == 0 { return "0" }
        if value < 0 { return "-" + number(-value) }
        let (digits, exponent) = shortest(value)
        let count = digits.count
        switch exponent {
        case count...21 where exponent >= count: return digits + String(repeating: "0", count: exponent - count)
        case 1...21: return "\(digits.prefix(exponent)).\(digits.dropFirst(exponent))"
        case -5...0: return "0." + String(repeating: "0", count: -exponent) + digits
        default:
            let power = exponent - 1
            let mantissa = count == 1 ? digits : "\(digits.prefix(1)).\(digits.dropFirst())"
            return "\(mantissa)e\(power < 0 ? "-" : "+")\(abs(power))"
        }
    }

    /// `value` = 0.d₁d₂… × 10^exponent, without zeros at either end of the digits.
    private static func shortest(_ value: Double) -> (digits: String, exponent: Int) {
        let parts = value.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var digits = mantissa.joined()
        var exponent = mantissa[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        while digits.hasPrefix("0"), digits.count > 1 {
            digits.removeFirst()
            exponent -= 1
        }
        while digits.hasSuffix("0"), digits.count > 1 { digits.removeLast() }
        return (digits, exponent)
    }
}
