/// The form in which the names of an object are compared.
private enum MemberName: Hashable {
    case text(String)
    /// The bytes of a long name. Comparing strings takes the square of the length of a run of combining marks, so long
    /// names are compared by bytes. If two of them are equivalent but have other bytes, the scanner accepts both. A
    /// dictionary then keeps one of them.
    case bytes([UInt8])

    init(_ name: String) { self = name.utf8.count <= 256 ? .text(name) : .bytes(Array(name.utf8)) }
}

/// The strict parser behind ``JSONDocument``.
struct JSONScanner {
    private let limits: JSONLimits
    private(set) var tape: [JSONDocument.Entry] = []
    private(set) var failure = JSONTextError.Code.unexpectedEnd
    private(set) var position = 0
    private var values = 0
    /// The member names of every open object, the innermost last.
    private var names: [UnsafeBufferPointer<UInt8>] = []
    private var text = UnsafeBufferPointer<UInt8>(start: nil, count: 0)

    init(limits: JSONLimits) {
        self.limits = limits
        tape.reserveCapacity(64)
    }

    /// Parses a text.
    ///
    /// - Returns: false if there is an error. `failure` and `position` then have the error and its place.
    mutating func scan(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        self.text = text
        guard text.count < Int32.max else { return fail(.tooManyValues) }
        skipSpace()
        guard value(depth: 0) else { return false }
        skipSpace()
        return position == text.count || fail(.trailingText)
    }

    private mutating func fail(_ code: JSONTextError.Code) -> Bool {
        failure = code
        return false
    }

    private mutating func unexpected() -> Bool { fail(position < text.count ? .unexpectedCharacter : .unexpectedEnd) }

    @inline(__always) private func peek() -> UInt8 { position < text.count ? text[position] : 0 }

    private mutating func skipSpace() {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x0a, 0x0d, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func append(_ kind: JSONNode.Kind, from start: Int, flag: Bool = false) {
        tape.append(
            .init(kind: kind, flag: flag, start: Int32(start), end: Int32(position), next: Int32(tape.count + 1)))
    }

    private mutating func value(depth: Int) -> Bool {
        values += 1
        guard values <= limits.values else { return fail(.tooManyValues) }
        switch peek() {
        case UInt8(ascii: "{"): return container(.object, closing: UInt8(ascii: "}"), depth: depth + 1)
        case UInt8(ascii: "["): return container(.array, closing: UInt8(ascii: "]"), depth: depth + 1)
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return literal("true", .bool, flag: true)
        case UInt8(ascii: "f"): return literal("false", .bool, flag: false)
        case UInt8(ascii: "n"): return literal("null", .null, flag: false)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        default: return unexpected()
        }
    }

    private mutating func literal(_ word: StaticString, _ kind: JSONNode.Kind, flag: Bool) -> Bool {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard peek() == word.utf8Start[index] else { return unexpected() }
            position += 1
        }
        append(kind, from: start, flag: flag)
        return true
    }

    private mutating func container(_ kind: JSONNode.Kind, closing: UInt8, depth: Int) -> Bool {
        guard depth <= limits.depth else { return fail(.tooDeep) }
        let (start, index) = (position, tape.count)
        position += 1
        append(kind, from: start)
        skipSpace()
        if peek() == closing {
            position += 1
        } else {
            let firstName = names.count
            var manyNames: Set<MemberName>?
            repeat {
                skipSpace()
                if kind == .object, !name(from: firstName, &manyNames) { return false }
                guard value(depth: depth) else { return false }
                skipSpace()
            } while take(UInt8(ascii: ","))
            names.removeSubrange(firstName...)
            guard take(closing) else { return unexpected() }
        }
        tape[index].end = Int32(position)
        tape[index].next = Int32(tape.count)
        return true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte, position < text.count else { return false }
        position += 1
        return true
    }

    /// Parses the name of a member.
    ///
    /// - Parameters:
    ///   - first: the index of the object's first name in `names`.
    ///   - many: the object's names as a set, once there are too many to search one by one.
    private mutating func name(from first: Int, _ many: inout Set<MemberName>?) -> Bool {
        let start = position
        guard peek() == UInt8(ascii: "\"") else { return unexpected() }
        guard string() else { return false }
        let entry = tape[tape.count - 1]
        let raw = UnsafeBufferPointer(rebasing: text[(Int(entry.start) + 1)..<(Int(entry.end) - 1)])
        guard isNew(raw, hasEscapes: entry.flag, from: first, &many) else {
            position = start
            return fail(.duplicateMember)
        }
        skipSpace()
        guard take(UInt8(ascii: ":")) else { return unexpected() }
        skipSpace()
        return true
    }

    /// Whether no earlier name of the object is the same string, after escapes are resolved. To a dictionary,
    /// canonically equivalent names are one name, such as `é` in one scalar and in two. It would lose a member.
    private mutating func isNew(
        _ name: UnsafeBufferPointer<UInt8>, hasEscapes: Bool, from first: Int, _ many: inout Set<MemberName>?
    ) -> Bool {
        if !hasEscapes, many == nil, names.count - first < 16, !name.contains(where: { $0 >= 0x80 }) {
            for other in names[first...] where other.count == name.count && other.elementsEqual(name) { return false }
            if names.capacity == 0 { names.reserveCapacity(16) }
            names.append(name)
            return true
        }
        var known = many ?? Set(names[first...].map { MemberName(String(decoding: $0, as: UTF8.self)) })
        many = nil
        defer { many = known }
        let text = hasEscapes ? JSONNode.unescaped(name) : String(decoding: name, as: UTF8.self)
        return known.insert(MemberName(text)).inserted
    }

    // MARK: Numbers

    private mutating func number() -> Bool {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if take(UInt8(ascii: "0")) {
            // No digit may follow a leading zero. The caller sees it as an unexpected character.
        } else if digits() == 0 {
            return fail(.invalidNumber)
        }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() > 0 else { return fail(.invalidNumber) }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { return fail(.invalidNumber) }
        }
        // Up to 18 characters always fit in `Int64`. Only "-0" is not an integer.
        if !isInteger || position - start > 18 || text[start] == UInt8(ascii: "-") {
            let raw = String(decoding: text[start..<position], as: UTF8.self)
            if isInteger { isInteger = Int64(raw) != nil && raw != "-0" }
            guard isInteger || Double(raw)?.isFinite == true else {
                position = start
                return fail(.invalidNumber)
            }
        }
        append(.number, from: start, flag: isInteger)
        return true
    }

    private mutating func digits() -> Int {
        let start = position
        while position < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) { position += 1 }
        return position - start
    }

    // MARK: Strings

    private mutating func string() -> Bool {
        let start = position
        var hasEscapes = false
        position += 1
        while position < text.count {
            let byte = text[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                append(.string, from: start, flag: hasEscapes)
                return true
            case UInt8(ascii: "\\"):
                hasEscapes = true
                guard escape() else { return false }
            case 0x20..<0x80: position += 1
            case 0..<0x20: return fail(byte == 0 ? .nullCharacter : .controlCharacter)
            default:
                let length = UTF8Sequence.length(at: position, in: text)
                guard length > 0 else { return fail(.invalidUTF8) }
                position += length
            }
        }
        return fail(.unexpectedEnd)
    }

    private mutating func escape() -> Bool {
        guard position + 1 < text.count else {
            position = text.count
            return fail(.unexpectedEnd)
        }
        switch text[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
            return true
        case UInt8(ascii: "u"): return unicodeEscape()
        default: return fail(.invalidEscape)
        }
    }

    private mutating func unicodeEscape() -> Bool {
        guard let unit = hex(at: position + 2) else { return fail(.invalidEscape) }
        guard unit != 0 else { return fail(.nullCharacter) }
        switch unit {
        case 0xd800..<0xdc00:
            guard position + 7 < text.count, text[position + 6] == UInt8(ascii: "\\"),
                text[position + 7] == UInt8(ascii: "u"), let low = hex(at: position + 8),
                (0xdc00..<0xe000).contains(low)
            else { return fail(.invalidEscape) }
            position += 12
        case 0xdc00..<0xe000: return fail(.invalidEscape)
        default: position += 6
        }
        return true
    }

    private func hex(at start: Int) -> UInt32? {
        guard start + 4 <= text.count else { return nil }
        return JSONNode.hexValue(text[start..<(start + 4)])
    }
}

/// Well-formed UTF-8 by table 3-7 of the Unicode Standard.
enum UTF8Sequence {
    /// The bytes of the sequence at `index`, which starts with a byte of at least 0x80; 0 if it is malformed.
    static func length(at index: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        func continues(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xbf) -> Bool {
            index + offset < text.count && range.contains(text[index + offset])
        }
        switch text[index] {
        case 0xc2...0xdf: return continues(1) ? 2 : 0
        case 0xe0: return continues(1, 0xa0...0xbf) && continues(2) ? 3 : 0
        case 0xed: return continues(1, 0x80...0x9f) && continues(2) ? 3 : 0
        case 0xe1...0xef: return continues(1) && continues(2) ? 3 : 0
        case 0xf0: return continues(1, 0x90...0xbf) && continues(2) && continues(3) ? 4 : 0
        case 0xf1...0xf3: return continues(1) && continues(2) && continues(3) ? 4 : 0
        case 0xf4: return continues(1, 0x80...0x8f) && continues(2) && continues(3) ? 4 : 0
        default: return 0
        }
    }
}
