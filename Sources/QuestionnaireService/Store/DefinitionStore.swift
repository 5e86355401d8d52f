import BusProtocol
import Database
import EventLoop

/// The published definitions, read once each and then kept: they never change.
@Loop final class DefinitionStore {
    private let database: Database
    private var known: [[UInt8]: PublishedDefinition] = [:]

    /// - Parameter shipped: the definition that this build brings along.
    init(database: Database, shipped: Definition) {
        self.database = database
        known[shipped.hash] = PublishedDefinition(shipped)
    }

    /// The definition that a session is pinned to.
    func definition(_ hash: [UInt8]) async throws -> PublishedDefinition {
        if let known = known[hash] { return known }
        guard let content = try await database.read(Self.load, [.bytes(hash)]).first?.text("content") else {
            throw DatabaseError.unreadable(column: "content")
        }
        let definition = PublishedDefinition(try await Loop.offload { try DefinitionParser.parse(Array(content.utf8)) })
        known[hash] = definition
        return definition
    }

    private static let load: Statement = "SELECT content FROM definitions WHERE content_hash = $1"
}

/// A definition with the form that clients see.
struct PublishedDefinition: Sendable {
    let definition: Definition
    let reference: QuestionnaireReference
    private let views: [QuestionView]

    init(_ definition: Definition) {
        self.definition = definition
        reference = definition.reference
        views = definition.questions.map(QuestionView.init)
    }

    /// Every question as the sheet's person sees it.
    func views(for sheet: AnswerSheet) -> [QuestionView] {
        guard definition.hasConditions else { return views }
        return views.indices.map { place in
            let (written, seen) = (definition.questions[place], sheet.questions[place])
            var view = views[place]
            (view.visible, view.required) = (!sheet.hidden.contains(seen.key), seen.required)
            if written.hasConditionalOptions { view.options = QuestionOption.all(of: seen) }
            return view
        }
    }
}
