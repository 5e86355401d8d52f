/// The few texts of a view that no definition has.
///
/// A language that is not here gets none of them. A text in another language would be worse.
struct ServiceWords: Sendable {
    /// For the choice not to answer.
    let decline: String
    let yes: String
    let no: String

    private static let all = [
        "en": ServiceWords(decline: "Prefer not to say", yes: "Yes", no: "No"),
        "sv": ServiceWords(decline: "Vill inte svara", yes: "Ja", no: "Nej"),
    ]

    /// - Parameter language: a tag such as `en` or `en-GB`. Only the language itself counts, not the region.
    static func of(_ language: String) -> ServiceWords? {
        all[language.prefix { $0 != "-" }.lowercased()]
    }
}
