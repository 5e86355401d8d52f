extension JSONSchema {
    /// The most problems that are reported for one value.
    static let mostProblems = 100

    /// The problems of a value, in document order; only the first 100.
    public func problems(in node: JSONNode) -> [SchemaProblem] {
        // Nearly every value fits, so this usually builds no path and no sentence.
        if fits(node) { return [] }
        var found: [SchemaProblem] = []
        check(node, at: SchemaPlace(), into: &found)
        return Array(found.prefix(Self.mostProblems))
    }

    private func check(_ node: JSONNode, at place: SchemaPlace, into found: inout [SchemaProblem]) {
        func problem(_ code: String, _ message: String) {
            found.append(SchemaProblem(place, code, message))
        }
        switch self {
        case .any: break
        case .boolean: if node.kind != .bool { problem("wrong_type", "Must be true or false.") }
        case .integer(let range):
            guard let value = node.integer else { return problem("wrong_type", "Must be a whole number.") }
            if value < range.lowerBound { problem("too_small", "Must be at least \(range.lowerBound).") }
            if value > range.upperBound { problem("too_large", "Must be at most \(range.upperBound).") }
        case .number(let range):
            guard let value = node.number else { return problem("wrong_type", "Must be a number.") }
            if value < range.lowerBound { problem("too_small", "Must be at least \(range.lowerBound).") }
            if value > range.upperBound { problem("too_large", "Must be at most \(range.upperBound).") }
        case .string(let rule):
            guard let value = node.string else { return problem("wrong_type", "Must be a text.") }
            if let (code, message) = rule.problem(with: value) { problem(code, message) }
        case .array(let element, let count):
            guard node.kind == .array else { return problem("wrong_type", "Must be a list.") }
            let elements = node.elements
            if elements.count < count.lowerBound {
                problem("too_few", "Must have at least \(count.lowerBound) entries.")
            }
            if elements.count > count.upperBound {
                return problem("too_many", "Must have at most \(count.upperBound) entries.")
            }
            for (index, child) in elements.enumerated() where found.count < Self.mostProblems {
                element.check(child, at: place.member(String(index)), into: &found)
            }
        case .map(let element, let count): checkMap(node, element, count, at: place, into: &found)
        case .object(let members): checkObject(node, members, at: place, into: &found)
        case .nullable(let inner): if !node.isNull { inner.check(node, at: place, into: &found) }
        case .named(_, let inner): inner.check(node, at: place, into: &found)
        case .anyOf(let schemas):
            var last: [SchemaProblem] = []
            for schema in schemas {
                last = []
                schema.check(node, at: place, into: &last)
                if last.isEmpty { return }
            }
            found += last
        }
    }

    private func checkMap(
        _ node: JSONNode, _ element: JSONSchema, _ count: ClosedRange<Int>, at place: SchemaPlace,
        into found: inout [SchemaProblem]
    ) {
        func problem(_ code: String, _ message: String) {
            found.append(SchemaProblem(place, code, message))
        }
        guard node.kind == .object else { return problem("wrong_type", "Must be an object.") }
        let members = node.members
        if members.count < count.lowerBound { problem("too_few", "Must have at least \(count.lowerBound) members.") }
        if members.count > count.upperBound {
            return problem("too_many", "Must have at most \(count.upperBound) members.")
        }
        for member in members where found.count < Self.mostProblems {
            guard (1...64).contains(member.name.unicodeScalars.count) else {
                problem("malformed", "Member names have 1 to 64 characters.")
                continue
            }
            element.check(member.value, at: place.member(member.name), into: &found)
        }
    }

    private func checkObject(
        _ node: JSONNode, _ schema: [Member], at place: SchemaPlace, into found: inout [SchemaProblem]
    ) {
        guard node.kind == .object else {
            found.append(SchemaProblem(place, "wrong_type", "Must be an object."))
            return
        }
        let members = node.members
        for member in members where found.count < Self.mostProblems {
            let inner = place.member(String(member.name.prefix(64)))
            if let known = schema.first(where: { $0.name == member.name }) {
                known.schema.check(member.value, at: inner, into: &found)
            } else {
                found.append(SchemaProblem(inner, "unknown_member", "There is no such member."))
            }
        }
        for member in schema where member.isRequired && !members.contains(where: { $0.name == member.name }) {
            let inner = place.member(member.name)
            found.append(SchemaProblem(inner, "required", "“\(member.name)” is required."))
        }
    }
}

/// A place in a JSON text, in both forms that a problem has.
private struct SchemaPlace {
    var field = ""
    var pointer = ""

    func member(_ name: String) -> SchemaPlace {
        SchemaPlace(
            field: field.isEmpty ? name : "\(field).\(name)", pointer: JSONPointer.appending(name, to: pointer))
    }
}

extension SchemaProblem {
    fileprivate init(_ place: SchemaPlace, _ code: String, _ message: String) {
        self.init(field: place.field, pointer: place.pointer, code: code, message: message)
    }
}

extension JSONSchema.StringRule {
    /// The first problem of a text: its code and a sentence.
    func problem(with value: String) -> (code: String, message: String)? {
        if let values {
            return values.contains(value) ? nil : ("not_allowed", "Must be one of: \(values.joined(separator: ", ")).")
        }
        let count = value.unicodeScalars.count
        if let format {
            guard format == .dateTime || length.contains(count), format.holds(for: value) else {
                return ("malformed", format.message)
            }
            return nil
        }
        if count < length.lowerBound {
            let least = length.lowerBound
            return (
                "too_short", least == 1 ? "Must have at least 1 character." : "Must have at least \(least) characters."
            )
        }
        return count > length.upperBound ? ("too_long", "Must have at most \(length.upperBound) characters.") : nil
    }
}

extension JSONSchema.StringFormat {
    var message: String {
        switch self {
        case .uuid: "Must be a UUID."
        case .date: "Must be a date, YYYY-MM-DD."
        case .dateTime: "Must be a time, like 2026-02-20T09:00:00Z or 2026-02-20T10:00:00+01:00."
        case .otp: "Must be the six digits of the code."
        case .visibleASCII: "Must have visible ASCII characters only."
        case .key: "Must have ASCII letters, digits, _ and - only."
        }
    }

    /// Whether a text has this form. It does not check the length.
    public func holds(for value: String) -> Bool {
        let bytes = Array(value.utf8)
        switch self {
        case .uuid: return Self.matches(bytes, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
        case .date: return Self.isDate(bytes[...])
        case .dateTime: return Self.isDateTime(bytes)
        case .otp: return Self.matches(bytes, "dddddd")
        case .visibleASCII: return bytes.allSatisfy { (0x21...0x7e).contains($0) }
        case .key: return bytes.allSatisfy(Self.isOfKey)
        }
    }

    private static func isOfKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    /// In the pattern, `d` is a digit and `x` a hexadecimal digit in either case. Any other character is itself.
    private static func matches(_ bytes: [UInt8], _ pattern: StaticString) -> Bool {
        guard bytes.count == pattern.utf8CodeUnitCount else { return false }
        return bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            switch pattern.utf8Start[index] {
            case UInt8(ascii: "d"): return isDigit
            case UInt8(ascii: "x"): return isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
            case let other: return byte == other
            }
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
    }

    private static func isDate(_ bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        guard matches(bytes, "dddd-dd-dd") else { return false }
        let (year, month, day) = (number(bytes[0..<4]), number(bytes[5..<7]), number(bytes[8..<10]))
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        guard year > 0, (1...12).contains(month) else { return false }
        return day >= 1 && day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    private static func isDateTime(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 20, matches(Array(bytes[10..<19]), "Tdd:dd:dd"), isDate(bytes[..<10]),
            number(bytes[11..<13]) < 24, number(bytes[14..<16]) < 60, number(bytes[17..<19]) < 60
        else { return false }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...9).contains(fraction.count) else { return false }
            rest = rest[fraction.endIndex...]
        }
        return rest == [UInt8(ascii: "Z")] || isOffset(rest, ofYear: number(bytes[..<4]))
    }

    /// In UTC, too, the time must be in the years 0001 to 9999.
    private static func isOffset(_ bytes: ArraySlice<UInt8>, ofYear year: Int) -> Bool {
        guard bytes.first == UInt8(ascii: "+") || bytes.first == UInt8(ascii: "-"),
            matches(Array(bytes.dropFirst()), "dd:dd")
        else { return false }
        return number(bytes.dropFirst().prefix(2)) < 24 && number(bytes.suffix(2)) < 60 && (2...9998).contains(year)
    }
}
