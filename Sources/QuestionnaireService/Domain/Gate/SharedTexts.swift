/// E17: an option and a question must not share a text key. `q.pet.help` is the help text of the question `pet`, and
/// would also be the label of its option `help`.
///
/// It is checked when a version is published. Versions that were published before must stay readable.
enum SharedTexts {
    static func problems(in file: DefinitionFile) -> [DefinitionProblem] {
        let questions = file.sections.flatMap(\.questions)
        let taken = Set(
            questions.flatMap {
                [$0.textKey, $0.helpKey, $0.constraints?.minLabelKey, $0.constraints?.maxLabelKey].compactMap(\.self)
            })
        var found: [DefinitionProblem] = []
        for (sectionIndex, section) in file.sections.enumerated() {
            for (index, question) in section.questions.enumerated() {
                for (place, option) in (question.options ?? []).enumerated() where taken.contains(option.labelKey) {
                    found.append(
                        DefinitionProblem(
                            code: "E17",
                            pointer: "/sections/\(sectionIndex)/questions/\(index)/options/\(place)/labelKey",
                            message:
                                "“\(option.labelKey)” is also a text of a question. Give each text its own key.",
                            keys: [question.key, option.key]))
                }
            }
        }
        return found
    }
}
