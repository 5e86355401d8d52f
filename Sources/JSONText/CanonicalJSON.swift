/// The JSON Canonicalization Scheme (RFC 8785): each value has exactly one text, so a hash of the text identifies the
/// value.
public enum CanonicalJSON {
    /// The canonical text in UTF-8: no white space, members sorted by UTF-16 code units, numbers as ECMAScript writes
    /// them.
    public static func bytes(of value: JSONValue) -> [UInt8] {
        let text = JSONOutput()
        write(value, to: text)
        return text.bytes
    }

    /// Appends a string in quotes.
    public static func append(_ string: String, to bytes: inout [UInt8]) {
        let text = JSONOutput(capacity: string.utf8.count + 2)
        text.put(quoted: string)
        text.append(to: &bytes)
    }

    static func write(_ value: JSONValue, to text: JSONOutput) {
        switch value {
        case .null: text.put("null")
        case .bool(let value): text.put(value ? "true" : "false")
        case .integer(let value): writeNumber(value, to: text)
        case .number(let value): text.put(ascii: number(value))
        case .string(let value): text.put(quoted: value)
        case .array(let values): values.write(to: text)
        case .object(let members): write(members, to: text)
        }
    }

    @specialized(where Value == JSONValue)
    static func write<Value: JSONCoded>(_ members: [String: Value], to text: JSONOutput) {
        text.put(UInt8(ascii: "{"))
        for (index, member) in members.sorted(by: { precedes($0.key, $1.key) }).enumerated() {
            if index > 0 { text.put(UInt8(ascii: ",")) }
            text.put(quoted: member.key)
            text.put(UInt8(ascii: ":"))
            member.value.write(to: text)
        }
        text.put(UInt8(ascii: "}"))
    }

    private static func precedes(_ a: String, _ b: String) -> Bool {
        var (a, b) = (a, b)
        return a.withUTF8 { a in b.withUTF8 { b in JSONOutput.precedes(a, b) } }
    }

    /// Beyond 2^53, ECMAScript has only the nearest double.
    private static func writeNumber(_ value: Int64, to text: JSONOutput) {
        guard value.magnitude > 1 << 53 else { return text.put(magnitude: value.magnitude, isNegative: value < 0) }
        text.put(ascii: number(Double(value)))
    }

    /// Source: ECMA-262, Number::toString, radix 10. The digits are the shortest of Swift that read back as the same
    /// value.
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

    /// `value` = 0.d₁d₂… × 10^exponent. The digits have no zeros at either end.
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
