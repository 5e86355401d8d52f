import JSONText

extension AnswerValidator {
    /// One entry of a choice: an option's key, or `{"other": text}`.
    private enum Entry: Hashable {
        case option(Int)
        case other(String)
    }

    func singleChoice(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        try json(of: try entry(value))
    }

    /// A set of entries: options in the definition's order, then the person's own entries in the given order.
    func set(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        guard let values = value.arrayValue else { throw AnswerProblem("wrong_type", "Must be a list of options.") }
        var (chosen, others) = (Set<Int>(), [String]())
        for value in values.prefix(Self.mostEntries + 1) {
            switch try entry(value) {
            case .option(let index):
                guard chosen.insert(index).inserted else {
                    throw AnswerProblem("duplicate", "Each option can be chosen once.")
                }
            case .other(let text):
                guard !others.contains(text) else { throw AnswerProblem("duplicate", "Each entry can be given once.") }
                others.append(text)
            }
        }
        try checkCount(values.count, others: others.count)
        if values.count > 1, chosen.contains(where: { question.options[$0].exclusive }) {
            throw AnswerProblem("exclusive", "One of these cannot be combined with another.")
        }
        return .array(try (chosen.sorted().map { Entry.option($0) } + others.map { .other($0) }).map(json))
    }

    /// Option keys, the most important first: all of them, or the first `topK`.
    func ranking(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        guard let values = value.arrayValue else { throw AnswerProblem("wrong_type", "Must be a list of options.") }
        let wanted = question.constraints.topK ?? question.options.count
        if values.count < wanted { throw AnswerProblem("too_few", "Please rank \(wanted) of them.") }
        if values.count > wanted { throw AnswerProblem("too_many", "Please rank \(wanted) of them only.") }
        var ranked: [Int] = []
        for value in values {
            guard case .option(let index) = try entry(value) else {
                throw AnswerProblem("unknown_option", "There is no such option.")
            }
            if ranked.contains(index) { throw AnswerProblem("duplicate", "Each option has one place.") }
            ranked.append(index)
        }
        return .array(ranked.map { .string(question.options[$0].key) })
    }

    private static let mostEntries = 600

    private func checkCount(_ count: Int, others: Int) throws(AnswerProblem) {
        let (least, most) = question.countLimits
        if count < least { throw AnswerProblem("too_few", "Please choose at least \(least).") }
        if count > most { throw AnswerProblem("too_many", "Please choose at most \(most).") }
        if others > question.constraints.otherCount {
            throw AnswerProblem(
                "too_many", "At most \(question.constraints.otherCount) may be entries of your own.")
        }
    }

    private func entry(_ value: JSONValue) throws(AnswerProblem) -> Entry {
        if let key = value.stringValue {
            guard let index = question.options.firstIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) else {
                throw AnswerProblem("unknown_option", "There is no such option.")
            }
            return .option(index)
        }
        guard let members = value.objectValue, members.count == 1, let other = members["other"] else {
            throw AnswerProblem("wrong_type", "Must be the key of an option.")
        }
        guard question.constraints.otherCount > 0 else {
            throw AnswerProblem("not_allowed", "Only the options given can be chosen.")
        }
        let limits = TextLimits(least: 1, most: question.constraints.otherLength, pattern: .singleLine)
        return .other(try Self.text(other, in: limits))
    }

    private func json(of entry: Entry) throws(AnswerProblem) -> JSONValue {
        switch entry {
        case .option(let index): .string(question.options[index].key)
        case .other(let text): ["other": .string(text)]
        }
    }
}

extension Question {
    /// How many entries may be chosen together. An empty choice is not an answer: acknowledge or skip the question
    /// instead.
    var countLimits: (least: Int, most: Int) {
        let all = options.count + constraints.otherCount
        return (Swift.max(1, constraints.min?.whole ?? 1), constraints.max?.whole ?? all)
    }
}
