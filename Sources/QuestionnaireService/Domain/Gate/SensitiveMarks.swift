/// E20: no question may be marked as sensitive while answers about health are not sealed.
enum SensitiveMarks {
    static func problems(in file: DefinitionFile) -> [DefinitionProblem] {
        var found: [DefinitionProblem] = []
        for (sectionIndex, section) in file.sections.enumerated() {
            for (index, question) in section.questions.enumerated() where question.sensitive != nil {
                found.append(
                    DefinitionProblem(
                        code: "E20", pointer: "/sections/\(sectionIndex)/questions/\(index)/sensitive",
                        message: "Its answers would not be sealed, since QUESTIONNAIRE_SEAL_HEALTH is false.",
                        keys: [question.key]))
            }
        }
        return found
    }
}
