/// E17: a text key that stands for an option and for a question. `q.pet.help` is the help of the question `pet`, and would be
/// the label of its option `help`: one of the two shows a text that was meant for the other.
///
/// It is looked for when a version is published, and never in one that was: those stay readable as they are.
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
                                "“\(option.labelKey)” is a text of a question, too. Give each text a key of its own.",
                            keys: [question.key, option.key]))
                }
            }
        }
        return found
    }
}
