/// The keys of earlier versions that the newest version lacks. Nothing else may use them, since answers to them are
/// still stored.
struct RetiredKeys {
    private var questions: Set<String> = []
    /// The retired options of each question.
    private var options: [String: Set<String>] = [:]

    /// - Parameter versions: all versions, the oldest first.
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

    /// E14 for each retired key that is used again.
    func problems(in file: DefinitionFile) -> [DefinitionProblem] {
        var found: [DefinitionProblem] = []
        for (sectionIndex, section) in file.sections.enumerated() {
            for (index, question) in section.questions.enumerated() {
                let pointer = "/sections/\(sectionIndex)/questions/\(index)"
                if questions.contains(question.key) {
                    found.append(
                        problem(
                            "\(pointer)/key", "An earlier version had another question with this key.", [question.key]))
                    continue
                }
                for (index, option) in (question.options ?? []).enumerated()
                where options[question.key]?.contains(option.key) == true {
                    found.append(
                        problem(
                            "\(pointer)/options/\(index)/key", "An earlier version had another option with this key.",
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
