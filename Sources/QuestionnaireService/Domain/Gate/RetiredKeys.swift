/// Keys that an earlier version had and the newest one has not: answers to them are still kept, so nothing else may take
/// their names.
struct RetiredKeys {
    private var questions: Set<String> = []
    /// By question.
    private var options: [String: Set<String>] = [:]

    /// - Parameter versions: the oldest first.
    init(_ versions: [DefinitionFile]) {
        for version in versions {
            for question in version.sections.flatMap(\.questions) {
                questions.insert(question.key)
                options[question.key, default: []].formUnion((question.options ?? []).map(\.key))
            }
        }
        for question in versions.last?.sections.flatMap(\.questions) ?? [] {
            questions.remove(question.key)
            options[question.key, default: []].subtract((question.options ?? []).map(\.key))
        }
    }

    /// E14 for each that is used again.
    func problems(in file: DefinitionFile) -> [DefinitionProblem] {
        var found: [DefinitionProblem] = []
        for (sectionIndex, section) in file.sections.enumerated() {
            for (index, question) in section.questions.enumerated() {
                let pointer = "/sections/\(sectionIndex)/questions/\(index)"
                if questions.contains(question.key) {
                    found.append(
                        problem(
                            "\(pointer)/key", "An earlier version had another question of this key.", [question.key]))
                    continue
                }
                for (index, option) in (question.options ?? []).enumerated()
                where options[question.key]?.contains(option.key) == true {
                    found.append(
                        problem(
                            "\(pointer)/options/\(index)/key", "An earlier version had another option of this key.",
                            [question.key, option.key]))
                }
            }
        }
        return found
    }

    private func problem(_ pointer: String, _ message: String, _ keys: [String]) -> DefinitionProblem {
        DefinitionProblem(code: "E14", pointer: pointer, message: message, keys: keys)
    }
}
