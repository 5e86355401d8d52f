import BusProtocol
import Cryptography
import Database
import Documents
import EventLoop
import JSONText

/// The published definitions. Each is read once and then kept, because it never changes.
@Loop final class PublishedDefinitions {
    let documents: DocumentStore
    private var known: [[UInt8]: PublishedDefinition] = [:]

    /// - Parameter shipped: the definitions in this build.
    init(database: Database, shipped: [Definition]) {
        documents = DocumentStore(.questionnaire, database: database)
        for definition in shipped { known[definition.hash] = PublishedDefinition(definition) }
    }

    /// The definition that a session is pinned to.
    func definition(_ hash: [UInt8]) async throws -> PublishedDefinition {
        if let known = known[hash] { return known }
        guard let content = try await documents.content(hash) else { throw DatabaseError.unreadable(column: "content") }
        let definition = PublishedDefinition(try await Loop.compute { try DefinitionParser.parse(content) })
        known[hash] = definition
        return definition
    }

    /// - Parameters:
    ///   - version: `nil` for the newest that is not retired.
    ///   - isWhole: whether the definition is returned whole; otherwise only what everybody may read.
    func published(
        _ questionnaire: String, version: Int64?, isWhole: Bool
    ) async throws -> PublishedQuestionnaire? {
        guard let found = try await documents.stored(questionnaire, version: version) else { return nil }
        return PublishedQuestionnaire(
            key: found.key, version: found.version, hash: Hex.encode(found.hash), publishedAt: found.publishedAt,
            definition: try await Loop.compute {
                let whole = try DocumentText.value(found.content)
                return isWhole ? whole : PublicDefinition.document(of: whole)
            }, isWhole: isWhole ? true : nil)
    }
}
