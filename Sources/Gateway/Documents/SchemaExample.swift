import JSONText

extension JSONSchema {
    /// An example that fits the schema. It is the same each time.
    ///
    /// - Parameters:
    ///   - name: the member's name. Names in ``ExampleWords`` have a realistic example.
    ///   - isWhole: whether to include optional members that are not deprecated. An object without required members always has
    ///     them. Those in ``ExampleWords/shown`` are always there, and those in ``ExampleWords/hidden`` never.
    func example(for name: String = "", isWhole: Bool) -> JSONValue {
        switch self {
        case .any: ExampleWords.all[name] ?? [:]
        case .boolean: .bool(ExampleWords.all[name]?.boolValue ?? true)
        case .integer(let range):
            .integer(ExampleWords.all[name]?.integerValue.flatMap { range.contains($0) ? $0 : nil } ?? range.lowerBound)
        case .number(let range):
            .number(ExampleWords.all[name]?.doubleValue.flatMap { range.contains($0) ? $0 : nil } ?? range.lowerBound)
        case .string(let rule): .string(rule.example(for: name))
        case .array(let element, let count):
            .array(
                Array(
                    repeating: element.example(for: name, isWhole: isWhole),
                    count: max(count.lowerBound, min(1, count.upperBound))))
        case .map(let element, let count): Self.example(for: name, of: element, count, isWhole)
        case .object(let members): Self.example(of: members, in: "", isWhole)
        case .nullable(let inner): inner.example(for: name, isWhole: isWhole)
        case .named(let type, .object(let members)): Self.example(of: members, in: type.text, isWhole)
        case .named(_, let inner): inner.example(for: name, isWhole: isWhole)
        case .anyOf(let schemas): schemas.first?.example(for: name, isWhole: isWhole) ?? .null
        }
    }

    /// Objects whose members have free names, with an example of such a name.
    private static let names = ["fields": "displayName", "profile": "displayName", "answers": "smoking"]

    private static func example(
        for name: String, of element: JSONSchema, _ count: ClosedRange<Int>, _ isWhole: Bool
    ) -> JSONValue {
        guard count.upperBound > 0 else { return [:] }
        var members: [String: JSONValue] = [:]
        for number in 1...max(1, count.lowerBound) {
            let key = number == 1 ? names[name] ?? "example" : "example\(number)"
            members[key] = element.example(for: key, isWhole: isWhole)
        }
        return .object(members)
    }

    private static func example(of members: [Member], in type: String, _ isWhole: Bool) -> JSONValue {
        let isWhole = isWhole || !members.contains(where: \.isRequired)
        return .object(
            Dictionary(
                uniqueKeysWithValues: members.filter {
                    let name = "\(type).\($0.name)"
                    return $0.isRequired || ExampleWords.shown.contains(name)
                        || (isWhole && !$0.isDeprecated && !ExampleWords.hidden.contains(name))
                }.map {
                    ($0.name, $0.schema.example(for: ExampleWords.key(of: $0.name, in: type), isWhole: isWhole))
                }))
    }
}

extension JSONSchema.StringRule {
    fileprivate func example(for name: String) -> String {
        let word = ExampleWords.all[name]?.stringValue
        if let values = values ?? known { return values.first { $0 == word } ?? values.first ?? "" }
        if let word, let format, length.contains(word.unicodeScalars.count), format.holds(for: word) { return word }
        switch format {
        case .uuid: return "0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e"
        case .date: return "2026-02-20"
        case .dateTime: return "2026-02-20T09:00:00Z"
        case .otp: return "878396"
        case .visibleASCII, .key, nil: break
        }
        let text = word ?? "example"
        let padding = String(repeating: "x", count: max(0, length.lowerBound - text.unicodeScalars.count))
        return String((text + padding).prefix(length.upperBound))
    }
}
