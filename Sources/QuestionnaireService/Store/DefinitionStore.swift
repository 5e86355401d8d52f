import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// The published definitions, read once each and then kept: they never change.
@Loop final class DefinitionStore {
    private let database: Database
    private var known: [[UInt8]: PublishedDefinition] = [:]

    /// - Parameter shipped: the definitions that this build brings along.
    init(database: Database, shipped: [Definition]) {
        self.database = database
        for definition in shipped { known[definition.hash] = PublishedDefinition(definition) }
    }

    /// The definition that a session is pinned to.
    func definition(_ hash: [UInt8]) async throws -> PublishedDefinition {
        if let known = known[hash] { return known }
        guard let content = try await database.read(Self.load, [.bytes(hash)]).first?.text("content") else {
            throw DatabaseError.unreadable(column: "content")
        }
        let definition = PublishedDefinition(try await Loop.compute { try DefinitionParser.parse(Array(content.utf8)) })
        known[hash] = definition
        return definition
    }

    /// Hashes of the newest versions that are not retired, by key.
    func current() async throws -> [[UInt8]] {
        try await database.read(Self.newest, [.text(nil)]).map { try $0.bytes("content_hash") }
    }

    /// The newest version that is not retired.
    func newest(of questionnaire: String) async throws -> (version: Int64, hash: [UInt8])? {
        try await database.read(Self.newestHash, [.text(questionnaire)]).first.map {
            (try $0.integer("version"), try $0.bytes("content_hash"))
        }
    }

    /// - Parameter version: `nil` for the newest that is not retired.
    func published(_ questionnaire: String, version: Int64?) async throws -> PublishedQuestionnaire? {
        let values: [SQLValue] = [.text(questionnaire)] + (version.map { [.integer($0)] } ?? [])
        let rows = try await database.read(version == nil ? Self.newest : Self.one, values)
        guard let row = rows.first else { return nil }
        let content = try row.text("content")
        return PublishedQuestionnaire(
            key: questionnaire, version: try row.integer("version"), hash: Hex.encode(try row.bytes("content_hash")),
            publishedAt: try row.timestamp("published_at"),
            definition: try await Loop.compute {
                try JSONValue.parse(Array(content.utf8), limits: DefinitionParser.limits)
            })
    }

    private static let newest: Statement = """
        SELECT DISTINCT ON (questionnaire) questionnaire, version, content_hash, content, published_at
        FROM definitions d
        WHERE ($1::text IS NULL OR questionnaire = $1) AND NOT EXISTS (
            SELECT 1 FROM retirements r WHERE (r.questionnaire, r.version) = (d.questionnaire, d.version))
        ORDER BY questionnaire, version DESC
        """
    private static let newestHash: Statement = """
        SELECT version, content_hash FROM definitions d
        WHERE questionnaire = $1 AND NOT EXISTS (
            SELECT 1 FROM retirements r WHERE (r.questionnaire, r.version) = (d.questionnaire, d.version))
        ORDER BY version DESC LIMIT 1
        """
    private static let one: Statement = """
        SELECT version, content_hash, content, published_at FROM definitions WHERE questionnaire = $1 AND version = $2
        """
    private static let load: Statement = "SELECT content FROM definitions WHERE content_hash = $1"
}

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

    /// Every question as the sheet's person sees it; of a section that repeats, as it is for any of its subjects.
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
