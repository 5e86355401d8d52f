import BusProtocol
import JSONText

/// E18: a question must not fill a field that the profile does not have.
struct ExtractedFields {
    /// The keys of all fields of the profile.
    let known: Set<String>

    /// Whether any question of a definition or draft fills a field of the profile.
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
