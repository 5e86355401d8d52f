import Foundation

/// A UUID. It is written in lower case and read in either case.
///
/// Version 7 (RFC 9562) is for rows that are ordered by time. Version 4 is for persons, because their ID must not
/// reveal when they signed up. Version 8 is for IDs that are derived from a request.
public struct Identifier: Hashable, Sendable, Codable, LosslessStringConvertible {
    /// The 16 bytes in network order.
    public let bytes: InlineBytes

    /// 16 bytes without an allocation.
    public typealias InlineBytes = uuid_t

    /// Takes 16 bytes in network order.
    public init(bytes: uuid_t) { self.bytes = bytes }

    /// A new version 7 UUID: milliseconds since 1970 and 74 random bits.
    ///
    /// - Parameter now: a time before 1970 counts as 1970.
    public static func ordered(at now: Date = Date()) -> Identifier {
        var random = RandomWords()
        let milliseconds = UInt64(max(0, now.timeIntervalSince1970) * 1000)
        let high = milliseconds << 16 | 0x7000 | random.next() & 0x0fff
        let low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return Identifier(high: high, low: low)
    }

    /// The least UUID of a time: the time at the start of this version 7 UUID, moved by milliseconds.
    public func moved(byMilliseconds milliseconds: Int64) -> Identifier {
        let time = withUnsafeBytes(of: bytes) { $0.prefix(6).reduce(0) { $0 << 8 | Int64($1) } }
        return Identifier(high: UInt64(max(0, time + milliseconds)) << 16, low: 0)
    }

    /// The nil UUID (RFC 9562). No row has it, and every other one comes after it.
    public static let least = Identifier(high: 0, low: 0)

    /// A new version 4 UUID: 122 random bits.
    public static func random() -> Identifier {
        var random = RandomWords()
        let high = random.next() & 0xffff_ffff_ffff_0fff | 0x4000
        return Identifier(high: high, low: random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    /// A version 8 UUID: 122 bits of a digest.
    ///
    /// - Precondition: `digest` has at least 16 bytes.
    public static func derived(from digest: [UInt8]) -> Identifier {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        let high = word(digest[0..<8]) & 0xffff_ffff_ffff_0fff | 0x8000
        return Identifier(high: high, low: word(digest[8..<16]) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    private init(high: UInt64, low: UInt64) {
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &value) { bytes in
            bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        bytes = value
    }

    /// Reads a UUID; `nil` if the text is none.
    ///
    /// - Parameter text: 36 characters, with hyphens where they belong. Digits may be in upper case, because Swift on
    ///   Apple's systems writes UUIDs that way.
    public init?(_ text: String) {
        var text = text
        let parsed = text.withUTF8 { Self.parse($0) }
        guard let parsed else { return nil }
        self = parsed
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Identifier? {
        guard text.count == 36 else { return nil }
        var (high, low, digits) = (UInt64(0), UInt64(0), 0)
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt64
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = UInt64(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = UInt64(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
            if digits < 16 { high = high << 4 | digit } else { low = low << 4 | digit }
            digits += 1
        }
        return Identifier(high: high, low: low)
    }

    /// The first and the last eight bytes.
    public var words: (high: UInt64, low: UInt64) {
        withUnsafeBytes(of: bytes) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// The 16 bytes in order.
    public var array: [UInt8] { withUnsafeBytes(of: bytes) { Array($0) } }

    /// Takes 16 bytes in network order; `nil` if their number differs.
    public init?(_ array: some Collection<UInt8>) {
        guard array.count == 16 else { return nil }
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: array) }
        bytes = value
    }

    /// Takes 16 bytes in network order; `nil` if their number differs. It is faster than the copy from any collection,
    /// which looks its type up each time.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes.loadUnaligned(as: uuid_t.self)
    }

    public var description: String {
        let hex: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: 36) { text in
            var position = 0
            for (index, byte) in array.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    text[position] = UInt8(ascii: "-")
                    position += 1
                }
                text[position] = hex.utf8Start[Int(byte >> 4)]
                text[position + 1] = hex.utf8Start[Int(byte & 15)]
                position += 2
            }
            return 36
        }
    }

    public static func == (a: Identifier, b: Identifier) -> Bool { a.words == b.words }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.high)
        hasher.combine(words.low)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Identifier(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = value
    }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
