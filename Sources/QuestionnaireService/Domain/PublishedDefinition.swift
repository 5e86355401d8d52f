import BusProtocol
import ProcessRuntime

/// A definition with the form that clients see.
struct PublishedDefinition: Sendable {
    /// It in one language.
    private struct Page: Sendable {
        let reference: QuestionnaireReference
        let views: [QuestionView]
    }

    let definition: Definition
    private let pages: [String: Page]

    init(_ definition: Definition) {
        self.definition = definition
        pages = Dictionary(
            uniqueKeysWithValues: definition.translations.map { language, translation in
                let views = translation.questions.map {
                    QuestionView($0, sectionTitle: translation.sectionTitles[$0.section])
                }
                return (language, Page(reference: definition.reference(in: language), views: views))
            })
    }

    /// The best of its languages for an `Accept-Language` header.
    func language(for header: String?) -> String {
        guard pages.count > 1, let header else { return definition.language }
        return LanguagePreference(header).choose(from: pages.keys.sorted(), fallback: definition.language)
    }

    func reference(in language: String) -> QuestionnaireReference {
        pages[language]?.reference ?? definition.reference(in: language)
    }

    /// Every question as the sheet's person sees it. A question in a repeated section is shown as it is for any of its
    /// subjects.
    func views(for sheet: AnswerSheet, in language: String) -> [QuestionView] {
        let views = pages[language]?.views ?? []
        guard definition.hasConditions else { return views }
        let items = Dictionary(grouping: sheet.items, by: \.place)
        return views.indices.map { place in
            let seen = (items[place] ?? []).filter { !$0.isHidden }
            var view = views[place]
            view.visible = !seen.isEmpty
            view.required = seen.isEmpty ? view.required : seen.contains(where: \.required)
            if definition.questions[place].hasConditionalOptions, !seen.isEmpty {
                let offered = Set(seen.flatMap(\.options).map(\.key))
                let options = (view.options ?? []).filter { offered.contains($0.key) }
                // There is no empty list on the wire.
                view.options = options.isEmpty ? nil : options
            }
            return view
        }
    }
}
