import BusProtocol
import Cryptography
import Database
import Documents
import EventLoop
import JSONText

/// The published definitions. Each is read once and then kept, because it never changes.
@Loop final class DefinitionStore {
    private let store: DocumentStore
    private var known: [[UInt8]: PublishedDefinition] = [:]

    /// - Parameter shipped: the definitions in this build.
    init(database: Database, shipped: [Definition]) {
        store = DocumentStore(.questionnaire, database: database)
        for definition in shipped { known[definition.hash] = PublishedDefinition(definition) }
    }

    /// The definition that a session is pinned to.
    func definition(_ hash: [UInt8]) async throws -> PublishedDefinition {
        if let known = known[hash] { return known }
        guard let content = try await store.content(hash) else { throw DatabaseError.unreadable(column: "content") }
        let definition = PublishedDefinition(try await Loop.compute { try DefinitionParser.parse(content) })
        known[hash] = definition
        return definition
    }

    /// The hashes of the newest versions that are not retired, in the order of keys.
    func current() async throws -> [[UInt8]] { try await store.current().map(\.hash) }

    /// The newest version that is not retired.
    func newest(of questionnaire: String) async throws -> (version: Int64, hash: [UInt8])? {
        try await store.newest(of: questionnaire)
    }

    /// The hash of a version; `nil` if there is no such version.
    func hash(of questionnaire: String, version: Int64) async throws -> [UInt8]? {
        let values: [SQLValue] = [.text(questionnaire), .integer(version)]
        return try await store.database.read(Self.findHash, values).first?.bytes("content_hash")
    }
    private static let findHash: Statement = """
        SELECT content_hash FROM definitions WHERE questionnaire = $1 AND version = $2
        """

    /// - Parameters:
    ///   - version: `nil` for the newest that is not retired.
    ///   - isWhole: whether the definition is returned whole; otherwise only what everybody may read.
    func published(
        _ questionnaire: String, version: Int64?, isWhole: Bool
    ) async throws -> PublishedQuestionnaire? {
        guard let found = try await store.stored(questionnaire, version: version) else { return nil }
        return PublishedQuestionnaire(
            key: found.key, version: found.version, hash: Hex.encode(found.hash), publishedAt: found.publishedAt,
            definition: try await Loop.compute {
                let whole = try DocumentText.value(found.content)
                return isWhole ? whole : PublicDefinition.document(of: whole)
            }, isWhole: isWhole ? true : nil)
    }
}
