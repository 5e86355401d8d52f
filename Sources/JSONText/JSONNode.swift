/// One value of a ``JSONDocument``. It copies nothing before a caller asks for a value.
public struct JSONNode: Sendable {
    /// The kinds of JSON values.
    public enum Kind: UInt8, Sendable { case null, bool, number, string, array, object }

    let document: JSONDocument
    let index: Int

    private var entry: JSONDocument.Entry { document.tape[index] }
    /// The kind of the value.
    public var kind: Kind { entry.kind }
    /// Whether the value is `null`.
    public var isNull: Bool { entry.kind == .null }

    /// The bytes of the value in the text.
    public var rawText: ArraySlice<UInt8> { document.bytes[Int(entry.start)..<Int(entry.end)] }

    /// The value of a boolean; `nil` for any other kind.
    public var bool: Bool? { entry.kind == .bool ? entry.flag : nil }

    /// A number that is written without fraction and exponent and is within `Int64`; `nil` for anything else.
    public var integer: Int64? {
        entry.kind == .number && entry.flag ? Int64(String(decoding: rawText, as: UTF8.self)) : nil
    }

    /// The value of a number; `nil` for any other kind.
    public var number: Double? { entry.kind == .number ? Double(String(decoding: rawText, as: UTF8.self)) : nil }

    /// The value of a string, without escapes; `nil` for any other kind.
    public var string: String? {
        let entry = entry
        guard entry.kind == .string else { return nil }
        return document.bytes.withUnsafeBufferPointer { Self.text(of: entry, in: $0) }
    }

    /// The characters between the quotes of a string, without escapes.
    private static func text(of entry: JSONDocument.Entry, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let inside = UnsafeBufferPointer(rebasing: bytes[(Int(entry.start) + 1)..<(Int(entry.end) - 1)])
        return entry.flag ? unescaped(inside) : String(decoding: inside, as: UTF8.self)
    }

    /// Whether this is a string with these characters, written without escapes. It makes no string.
    ///
    /// - Parameter text: visible ASCII characters other than `"` and `\\`.
    public func isString(_ text: StaticString) -> Bool {
        let entry = entry
        guard entry.kind == .string, Int(entry.end - entry.start) - 2 == text.utf8CodeUnitCount else { return false }
        return document.bytes.withUnsafeBufferPointer { bytes in
            (0..<text.utf8CodeUnitCount).allSatisfy { bytes[Int(entry.start) + 1 + $0] == text.utf8Start[$0] }
        }
    }

    /// Whether this is the member name `name`, written with or without escapes.
    func isName(_ name: StaticString) -> Bool { entry.flag ? string == name.description : isString(name) }

    /// The elements of an array, in order; empty for any other kind.
    public var elements: [JSONNode] {
        guard entry.kind == .array else { return [] }
        let tape = document.tape
        var (found, next) = ([JSONNode](), index + 1)
        let end = Int(tape[index].next)
        while next < end {
            found.append(JSONNode(document: document, index: next))
            next = Int(tape[next].next)
        }
        return found
    }

    /// The members of an object, in order; empty for any other kind.
    public var members: [(name: String, value: JSONNode)] {
        guard entry.kind == .object else { return [] }
        let tape = document.tape
        var (found, next) = ([(name: String, value: JSONNode)](), index + 1)
        let end = Int(tape[index].next)
        document.bytes.withUnsafeBufferPointer { bytes in
            while next < end {
                found.append((Self.text(of: tape[next], in: bytes), JSONNode(document: document, index: next + 1)))
                next = Int(tape[next + 1].next)
            }
        }
        return found
    }

    /// The member with this name; `nil` if there is none, or if this is not an object.
    public subscript(name: String) -> JSONNode? {
        guard entry.kind == .object else { return nil }
        var name = name
        let found = name.withUTF8 { find($0) }
        return found.map { JSONNode(document: document, index: $0) }
    }

    /// Whether the value is an object without members.
    public var isEmptyObject: Bool { kind == .object && memberCount == 0 }

    var memberCount: Int {
        guard entry.kind == .object else { return 0 }
        var (count, next) = (0, index + 1)
        while next < Int(entry.next) {
            count += 1
            next = Int(document.tape[next + 1].next)
        }
        return count
    }

    /// The index of the value of a member.
    private func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
        let (tape, bytes) = (document.tape, document.bytes)
        var next = index + 1
        let end = Int(tape[index].next)
        while next < end {
            let entry = tape[next]
            let (start, length) = (Int(entry.start) + 1, Int(entry.end - entry.start) - 2)
            if entry.flag {
                let unescaped = JSONNode(document: document, index: next).string ?? ""
                if unescaped.utf8.elementsEqual(name) { return next + 1 }
            } else if length == name.count, bytes[start..<(start + length)].elementsEqual(name) {
                return next + 1
            }
            next = Int(tape[next + 1].next)
        }
        return nil
    }

    /// A copy of the value, including all values in it.
    public var value: JSONValue {
        switch entry.kind {
        case .null: .null
        case .bool: .bool(entry.flag)
        case .number: integer.map { .integer($0) } ?? .number(number ?? 0)
        case .string: .string(string ?? "")
        case .array: .array(elements.map(\.value))
        case .object:
            .object(Dictionary(members.map { ($0.name, $0.value.value) }, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// Replaces the escapes of a string. The reader has checked them.
    static func unescaped(_ raw: some Collection<UInt8>) -> String {
        let raw = Array(raw)
        var scalars: [UInt8] = []
        scalars.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\") else {
                scalars.append(raw[index])
                index += 1
                continue
            }
            switch raw[index + 1] {
            case UInt8(ascii: "b"): scalars.append(8)
            case UInt8(ascii: "f"): scalars.append(12)
            case UInt8(ascii: "n"): scalars.append(10)
            case UInt8(ascii: "r"): scalars.append(13)
            case UInt8(ascii: "t"): scalars.append(9)
            case UInt8(ascii: "u"):
                var code = hexValue(raw[(index + 2)..<(index + 6)]) ?? 0xfffd
                if (0xd800..<0xdc00).contains(code), let low = hexValue(raw[(index + 8)..<(index + 12)]) {
                    code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
                    index += 6
                }
                scalars.append(contentsOf: String(Unicode.Scalar(code) ?? "\u{fffd}").utf8)
                index += 4
            default: scalars.append(raw[index + 1])
            }
            index += 2
        }
        return String(decoding: scalars, as: UTF8.self)
    }

    static func hexValue(_ digits: some Collection<UInt8>) -> UInt32? {
        var value: UInt32 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}
