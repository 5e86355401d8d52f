import BusProtocol
import JSONText

/// Generates bodies that a schema allows. The same seed gives the same bodies.
struct BodyGenerator {
    private var state: UInt64

    /// - Parameter seed: text that a failure can show.
    init(seed: String) {
        // FNV-1a, so that the same text always gives the same state.
        state = seed.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
    private mutating func next(below limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((z ^ (z >> 31)) % UInt64(limit))
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[next(below: elements.count)] }

    mutating func body(of schema: JSONSchema) -> JSONValue {
        switch schema {
        case .any: any()
        case .boolean: .bool(next(below: 2) == 0)
        case .integer(let range):
            .integer(pick([range.lowerBound, range.upperBound, min(range.lowerBound + 1, range.upperBound)]))
        case .number(let range): .number(pick([range.lowerBound, range.upperBound, range.upperBound / 2]))
        case .string(let rule): .string(text(rule))
        case .array(let element, let count):
            .array((0..<min(count.upperBound, count.lowerBound + next(below: 4))).map { _ in body(of: element) })
        case .map(let element, let count): map(element, count)
        case .object(let members): object(members)
        case .nullable(let inner): next(below: 3) == 0 ? .null : body(of: inner)
        case .anyOf(let schemas): body(of: pick(schemas))
        case .named(_, let inner): body(of: inner)
        }
    }

    private mutating func any() -> JSONValue {
        switch next(below: 5) {
        case 0: .string(unicode(next(below: 12)))
        case 1: .integer(Int64(next(below: 1000)))
        case 2: .bool(true)
        case 3: .array([.string(unicode(3)), .number(0.5)])
        default: .object(["a": .null, "ä": .string(unicode(2))])
        }
    }

    private mutating func map(_ element: JSONSchema, _ count: ClosedRange<Int>) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for _ in 0..<min(count.upperBound, 3) { members[unicode(1 + next(below: 8))] = body(of: element) }
        return .object(members)
    }

    private mutating func object(_ members: [JSONSchema.Member]) -> JSONValue {
        var made: [String: JSONValue] = [:]
        for member in members where member.isRequired || next(below: 2) == 0 {
            made[member.name] = body(of: member.schema)
        }
        return .object(made)
    }

    private mutating func text(_ rule: JSONSchema.StringRule) -> String {
        if let values = rule.values { return pick(values) }
        switch rule.format {
        case .uuid: return Identifier.random().description
        case .date: return pick(["0001-01-01", "2000-02-29", "2026-12-31", "9999-12-31"])
        case .dateTime:
            return pick(["1970-01-01T00:00:00Z", "2026-02-20T09:00:00.125Z", "9999-12-31T23:59:59.999999Z"])
        case .otp: return pick(["000000", "042917", "999999"])
        case .visibleASCII: return String(repeating: "~", count: max(1, rule.length.lowerBound))
        case .key: return String(repeating: "_", count: max(1, rule.length.lowerBound))
        case nil:
            let length = pick([rule.length.lowerBound, rule.length.upperBound, (rule.length.lowerBound + 7)])
            return unicode(min(length, rule.length.upperBound))
        }
    }

    /// Unicode scalars that reveal a confusion of bytes, scalars and characters. They have two to four bytes in UTF-8,
    /// or are escapes, joiners, combining marks, right-to-left text, or the last of a plane.
    private static let scalars: [Unicode.Scalar] = [
        "a", "\"", "\\", "/", "\u{08}", "\u{1f}", "\u{7f}", "\u{e5}", "\u{301}", "\u{5d0}", "\u{202e}", "\u{200d}",
        "\u{2028}", "\u{feff}", "\u{fffd}", "\u{ffff}", "\u{d7ff}", "\u{e000}", "\u{1f469}", "\u{1f3fd}", "\u{10ffff}",
    ]

    /// - Parameter count: the number of scalars, as schemas count.
    private mutating func unicode(_ count: Int) -> String {
        var text = ""
        for _ in 0..<count { text.unicodeScalars.append(pick(Self.scalars)) }
        return text
    }
}
