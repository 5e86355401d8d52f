import Documents
import JSONText

/// The other plans and the questionnaires, with which a plan must agree. It must also agree with the library of fields.
struct PlanNeighbours: Sendable {
    /// The current versions of all plans.
    let plans: [PlanFile]
    /// The keys of the questionnaires that can be begun; `nil` if the plan names none.
    let questionnaires: Set<String>?

    init(plans: [PlanFile], questionnaires: Set<String>?) {
        (self.plans, self.questionnaires) = (plans, questionnaires)
    }

    /// - Parameter plans: the texts of the current versions.
    init(plans: [String], questionnaires: Set<String>?) throws(DocumentError) {
        let files = try plans.map { text throws(DocumentError) in try PlanDocument(Array(text.utf8)).file }
        self.init(plans: files, questionnaires: questionnaires)
    }

    /// Whether any step of a plan or draft is a questionnaire.
    static func areQuestionnairesNamed(in content: JSONValue) -> Bool {
        (content["steps"]?.arrayValue ?? []).contains { $0["questionnaire"] ?? .null != .null }
    }

    /// An app or an entry leads to one plan only, and each questionnaire must exist.
    func problems(in file: PlanFile) -> [DocumentProblem] {
        let others = plans.filter { $0.key != file.key }
        func taken(
            _ keys: [String], at pointer: String, _ code: String, by keysOf: (PlanFile) -> [String]
        ) -> [DocumentProblem] {
            keys.enumerated().compactMap { place, key in
                others.first { keysOf($0).contains(key) }.map {
                    DocumentProblem(
                        code: code, pointer: "\(pointer)/\(place)", message: "The plan \($0.key) has \(key) already.",
                        keys: [key])
                }
            }
        }
        let unknown = file.steps.enumerated().compactMap { place, step -> DocumentProblem? in
            guard let questionnaires, let key = step.questionnaire, !questionnaires.contains(key) else { return nil }
            return DocumentProblem(
                code: "unknown_questionnaire", pointer: "/steps/\(place)/questionnaire",
                message: "There is no published questionnaire \(key).", keys: [key])
        }
        return taken(file.apps, at: "/apps", "duplicate_app") { $0.apps }
            + taken(file.entries ?? [], at: "/entries", "duplicate_entry") { $0.entries ?? [] } + unknown
    }
}
