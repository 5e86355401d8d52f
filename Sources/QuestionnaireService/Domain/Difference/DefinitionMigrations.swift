import JSONText

/// The migrations of a version: how to move answers from the version before it. Any other entry is reported as
/// malformed.
struct DefinitionMigrations: Sendable {
    /// How to convert answers from one type to another.
    enum Conversion: String, CaseIterable {
        case singleToMulti = "single_to_multi"
        case multiToSingle = "multi_to_single"
        case sliderToNumber = "slider_to_number"
        case numberToSlider = "number_to_slider"

        var types: (old: QuestionKind, new: QuestionKind) {
            switch self {
            case .singleToMulti: (.singleChoice, .multiChoice)
            case .multiToSingle: (.multiChoice, .singleChoice)
            case .sliderToNumber: (.slider, .number)
            case .numberToSlider: (.number, .slider)
            }
        }

        /// - Returns: `nil` if the answer cannot be converted, such as several choices to a single one.
        func convert(_ value: JSONValue) -> JSONValue? {
            switch self {
            case .singleToMulti: .array([value])
            case .multiToSingle: value.arrayValue.flatMap { $0.count == 1 ? $0[0] : nil }
            case .sliderToNumber, .numberToSlider: value
            }
        }
    }

    /// The new keys of questions by their old keys.
    private(set) var renamed: [String: String] = [:]
    /// By the new key of a question: the new keys of its options by their old keys.
    private(set) var options: [String: [String: String]] = [:]
    /// By the new key of a question: the conversion of its answers.
    private(set) var conversions: [String: Conversion] = [:]
    private(set) var dropped: Set<String> = []
    /// The malformed entries, as pointers below `/migrations`, with the problem.
    private(set) var malformed: [(pointer: String, message: String)] = []

    var converted: Set<String> { Set(conversions.keys) }

    init(_ entries: [JSONValue]) {
        for (index, entry) in entries.enumerated() { read(entry, at: "/migrations/\(index)") }
    }

    private mutating func read(_ entry: JSONValue, at pointer: String) {
        guard let members = entry.objectValue, members.count == 1, let (name, body) = members.first else {
            return refuse(pointer, "An entry must be an object with rename, options, convert or drop.")
        }
        switch name {
        case "rename":
            guard let old = body["old"]?.stringValue, let new = body["new"]?.stringValue else {
                return refuse("\(pointer)/rename", "rename needs old and new.")
            }
            renamed[old] = new
        case "options":
            let map = (body["map"]?.objectValue ?? [:]).compactMapValues(\.stringValue)
            guard let question = body["question"]?.stringValue, !map.isEmpty,
                map.count == body["map"]?.objectValue?.count
            else { return refuse("\(pointer)/options", "options needs question and map, from option to option.") }
            options[question, default: [:]].merge(map) { $1 }
        case "convert":
            guard let question = body["question"]?.stringValue,
                let rule = body["rule"]?.stringValue.flatMap(Conversion.init)
            else {
                let rules = Conversion.allCases.map(\.rawValue).joined(separator: ", ")
                return refuse("\(pointer)/convert", "convert needs question and rule, one of \(rules).")
            }
            conversions[question] = rule
        case "drop":
            guard let question = body["question"]?.stringValue else {
                return refuse("\(pointer)/drop", "drop needs question.")
            }
            dropped.insert(question)
        default: refuse(pointer, "There is no migration “\(name)”.")
        }
    }

    private mutating func refuse(_ pointer: String, _ message: String) { malformed.append((pointer, message)) }
}

/// E15: the migrations of a version must fit both versions.
struct QuestionnaireSessionMigrationRules {
    let entries: [JSONValue]
    let old: DefinitionFile
    let new: DefinitionFile

    var problems: [DefinitionProblem] {
        entries.enumerated().flatMap { index, entry in problems(of: entry, at: "/migrations/\(index)") }
    }

    private func question(_ key: String, in file: DefinitionFile) -> DefinitionFile.Question? {
        file.sections.lazy.flatMap(\.questions).first { $0.key == key }
    }

    private func problems(of entry: JSONValue, at pointer: String) -> [DefinitionProblem] {
        func problem(_ message: String, _ keys: [String]) -> DefinitionProblem {
            DefinitionProblem(code: "E15", pointer: pointer, message: message, keys: keys)
        }
        let map = DefinitionMigrations([entry])
        var found: [DefinitionProblem] = []
        for (before, after) in map.renamed {
            guard question(before, in: old) != nil else {
                found.append(problem("The version before has no question “\(before)”.", [before]))
                continue
            }
            if question(after, in: new) == nil {
                found.append(problem("There is no question “\(after)”.", [after]))
            } else if question(after, in: old) != nil || question(before, in: new) != nil {
                found.append(problem("A key that is used in both versions cannot be renamed.", [before, after]))
            }
        }
        for (key, options) in map.options { found += self.problems(of: options, on: key, problem) }
        for (key, rule) in map.conversions {
            let types = (question(oldKey(of: key), in: old)?.type, question(key, in: new)?.type)
            if types != (rule.types.old.rawValue, rule.types.new.rawValue) {
                found.append(problem("The rule does not fit the types of this question.", [key]))
            }
        }
        for key in map.dropped where question(key, in: old) == nil || question(key, in: new) != nil {
            found.append(problem("Only a question that is gone is dropped.", [key]))
        }
        return found
    }

    /// The key in the old version of a question of the new one.
    private func oldKey(of key: String) -> String {
        DefinitionMigrations(entries).renamed.first { $0.value == key }?.key ?? key
    }

    private func problems(
        of map: [String: String], on key: String, _ problem: (String, [String]) -> DefinitionProblem
    ) -> [DefinitionProblem] {
        guard let before = question(oldKey(of: key), in: old), let after = question(key, in: new) else {
            return [problem("There is no question “\(key)” in both versions.", [key])]
        }
        var found: [DefinitionProblem] = []
        for (option, target) in map.sorted(by: { $0.key < $1.key }) {
            if before.options?.contains(where: { $0.key == option }) != true {
                found.append(problem("The version before has no option “\(option)”.", [key, option]))
            } else if after.options?.contains(where: { $0.key == target }) != true {
                found.append(problem("There is no option “\(target)”.", [key, target]))
            } else if after.options?.contains(where: { $0.key == option }) == true {
                found.append(problem("An option that both versions have cannot be mapped.", [key, option]))
            }
        }
        return found
    }
}
