import JSONText

extension JSONSchema {
    /// An example that fits the schema. It is the same each time.
    ///
    /// - Parameters:
    ///   - name: the member's name. Names in ``ExampleWords`` have a realistic example.
    ///   - word: the example that the member declares itself.
    ///   - isWhole: whether to include optional members that are not deprecated. An object without required members
    ///     always has them. `inExamples` of a member overrides this.
    func example(for name: String = "", _ word: JSONValue? = nil, isWhole: Bool) -> JSONValue {
        let known = word ?? ExampleWords.all[name]
        return switch self {
        case .any: known ?? [:]
        case .boolean: .bool(known?.boolValue ?? true)
        case .integer(let range):
            .integer(known?.integerValue.flatMap { range.contains($0) ? $0 : nil } ?? range.lowerBound)
        case .number(let range):
            .number(known?.doubleValue.flatMap { range.contains($0) ? $0 : nil } ?? range.lowerBound)
        case .string(let rule): .string(rule.example(known?.stringValue))
        case .array(let element, let count):
            .array(
                Array(
                    repeating: element.example(for: name, word, isWhole: isWhole),
                    count: max(count.lowerBound, min(1, count.upperBound))))
        case .map(let element, let count): Self.example(for: name, of: element, count, isWhole)
        case .object(let members): Self.example(of: members, isWhole)
        case .nullable(let inner): inner.example(for: name, word, isWhole: isWhole)
        case .named(_, let inner): inner.example(for: name, word, isWhole: isWhole)
        case .anyOf(let schemas): schemas.first?.example(for: name, word, isWhole: isWhole) ?? .null
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

    private static func example(of members: [Member], _ isWhole: Bool) -> JSONValue {
        let isWhole = isWhole || !members.contains(where: \.isRequired)
        return .object(
            Dictionary(
                uniqueKeysWithValues: members.filter {
                    $0.isRequired || $0.inExamples ?? (isWhole && !$0.isDeprecated)
                }.map { ($0.name, $0.schema.example(for: $0.name, $0.example, isWhole: isWhole)) }))
    }
}

extension JSONSchema.StringRule {
    fileprivate func example(_ word: String?) -> String {
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
