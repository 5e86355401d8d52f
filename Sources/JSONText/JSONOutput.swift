/// A JSON text under construction.
///
/// It manages its own memory. Swift checks an array in a class for shared ownership and exclusive access at every byte,
/// which costs more than the writing.
public final class JSONOutput {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    /// Makes an empty text.
    ///
    /// - Parameter capacity: the expected number of bytes. More bytes are possible but cost time.
    init(capacity: Int = 1024) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    var bytes: [UInt8] { [UInt8](UnsafeBufferPointer(start: base, count: count)) }

    func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: UnsafeBufferPointer(start: base, count: count)) }

    private func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: max(capacity * 2, count + more))
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = max(capacity * 2, count + more)
    }

    // MARK: Bytes

    func put(_ byte: UInt8) {
        reserve(1)
        base[count] = byte
        count += 1
    }

    func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).update(from: start, count: bytes.count)
        count += bytes.count
    }

    func put(_ text: StaticString) {
        put(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The name of a member, in quotes and with its colon. A comma precedes it unless it is the first.
    func put(name: StaticString, isFirst: Bool) {
        let length = name.utf8CodeUnitCount
        reserve(length + 4)
        var end = base + count
        func put(_ character: Unicode.Scalar) {
            end.pointee = UInt8(ascii: character)
            end += 1
        }
        if !isFirst { put(",") }
        put("\"")
        // A name is short, so a call of memmove would take longer than copying its bytes.
        for index in 0..<length { end[index] = name.utf8Start[index] }
        end += length
        put("\"")
        put(":")
        count = end - base
    }

    func put(ascii text: String) {
        var text = text
        text.withUTF8 { put($0) }
    }

    // MARK: Values

    func put(magnitude: UInt64, isNegative: Bool) {
        if isNegative { put(UInt8(ascii: "-")) }
        let first = count
        var rest = magnitude
        repeat {
            put(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        var digits = UnsafeMutableBufferPointer(start: base + first, count: count - first)
        digits.reverse()
    }

    /// Writes a string in quotes, with the escapes that RFC 8785 requires and no others.
    public func put(quoted string: String) {
        var string = string
        string.withUTF8 { text in
            let length = text.count
            reserve(length + 2)
            let start = base + count
            start[0] = UInt8(ascii: "\"")
            // Most strings need no escapes. So this copies the bytes while it checks them, eight at a time.
            let (source, copy) = (UnsafeRawBufferPointer(text), UnsafeMutableRawPointer(start + 1))
            var (index, needsEscape) = (0, false)
            while index &+ 8 <= length {
                let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                copy.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
                if Self.needsEscape(word) { needsEscape = true }
                index &+= 8
            }
            while index < length {
                start[1 &+ index] = text[index]
                if Self.needsEscape(text[index]) { needsEscape = true }
                index &+= 1
            }
            start[1 &+ length] = UInt8(ascii: "\"")
            guard needsEscape else { return count += length + 2 }
            count += 1
            text.forEach { putEscaped($0) }
            put(UInt8(ascii: "\""))
        }
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Whether any of eight bytes needs an escape. Source: "Determine if a word has a byte less than n" in Anderson,
    /// Bit Twiddling Hacks. Two bytes are equal if their exclusive or is less than 1.
    private static func needsEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let (quote, backslash) = (word ^ ones &* UInt64(UInt8(ascii: "\"")), word ^ ones &* UInt64(UInt8(ascii: "\\")))
        let isLess = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
        return isLess & (ones &* 0x80) != 0
    }

    private func putEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): put("\\\"")
        case UInt8(ascii: "\\"): put("\\\\")
        case 8: put("\\b")
        case 9: put("\\t")
        case 10: put("\\n")
        case 12: put("\\f")
        case 13: put("\\r")
        case 0..<0x20:
            put("\\u00")
            for digit in [byte >> 4, byte & 15] {
                put(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            }
        default: put(byte)
        }
    }

    // MARK: Members

    /// A member that was written: its name in quotes, a colon, its value.
    struct Member {
        let start: Int
        /// The position after the closing quote of the name.
        let nameEnd: Int
    }

    /// Whether the name of `a` comes before the name of `b`.
    func precedes(_ a: Member, _ b: Member) -> Bool { JSONOutput.precedes(name(of: a), name(of: b)) }

    private func name(of member: Member) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + member.start + 1, count: member.nameEnd - member.start - 2)
    }

    /// Sorts members by name. They must follow each other to the end of the text.
    func sort(_ members: ArraySlice<Member>) {
        guard let first = members.first?.start else { return }
        // A member ends at the comma before the next one; the last ends with the text.
        let ends = members.dropFirst().map { $0.start - 1 } + [count]
        let sorted = zip(members, ends).sorted { precedes($0.0, $1.0) }
        let sought = JSONOutput(capacity: count - first)
        for (member, end) in sorted {
            if sought.count > 0 { sought.put(UInt8(ascii: ",")) }
            sought.put(UnsafeBufferPointer(start: base + member.start, count: end - member.start))
        }
        (base + first).update(from: sought.base, count: sought.count)
    }

    /// Compares names in UTF-8 by their UTF-16 code units, as RFC 8785 requires.
    ///
    /// This is the order of the bytes, with one exception: characters with surrogates in UTF-16 come before U+E000.
    static func precedes(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<min(a.count, b.count) where a[index] != b[index] {
            let (x, y) = (a[index], b[index])
            return min(x, y) >= 0xee && (x >= 0xf0) != (y >= 0xf0) ? x > y : x < y
        }
        return a.count < b.count
    }
}
