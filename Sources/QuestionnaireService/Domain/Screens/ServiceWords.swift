import Languages

/// The few texts of a view that are in no definition.
///
/// A language that is not here gets none of them. A text in another language would be worse.
struct ServiceWords: Sendable {
    /// For the choice not to answer.
    let decline: String
    let yes: String
    let no: String

    /// - Parameter language: a tag such as `en` or `en-GB`. Only the language itself counts, not the region.
    static func of(_ language: String) -> ServiceWords? {
        let tag = language.prefix { $0 != "-" }.lowercased()
        return Language.all.first { $0.tag == tag }.map {
            ServiceWords(
                decline: Sentence("Prefer not to say").text(in: $0), yes: Sentence("Yes").text(in: $0),
                no: Sentence("No").text(in: $0))
        }
    }
}
