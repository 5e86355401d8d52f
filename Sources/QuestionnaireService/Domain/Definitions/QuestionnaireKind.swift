import Documents

extension DocumentKind {
    /// The definitions of questionnaires.
    static let questionnaire = DocumentKind(
        name: "questionnaire", noun: "definition", versions: "definitions", drafts: "drafts",
        retirements: "retirements")
}
