import BusProtocol
import JSONText

/// E18: a question whose answer stands for a field that the profile does not have.
struct ExtractedFields {
    /// The keys of all fields that the profile has.
    let known: Set<String>

    /// Whether a definition, or what is to become one, says of any question that its answer stands for a field.
    static func areNamed(in content: JSONValue) -> Bool {
        (content["sections"]?.arrayValue ?? []).contains { section in
            (section["questions"]?.arrayValue ?? []).contains { $0["extract"] ?? .null != .null }
        }
    }

    func problems(in file: DefinitionFile) -> [DefinitionProblem] {
        var found: [DefinitionProblem] = []
        for (sectionIndex, section) in file.sections.enumerated() {
            for (index, question) in section.questions.enumerated() {
                guard let field = question.extract?.profileField, !known.contains(field) else { continue }
                found.append(
                    DefinitionProblem(
                        code: "E18", pointer: "/sections/\(sectionIndex)/questions/\(index)/extract/profileField",
                        message: "The profile has no field “\(field)”.", keys: [question.key]))
            }
        }
        return found
    }
}
