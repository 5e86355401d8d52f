import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// The published definitions. Each is read once and then kept, because it never changes.
@Loop final class DefinitionStore {
    private let database: Database
    private var known: [[UInt8]: PublishedDefinition] = [:]

    /// - Parameter shipped: the definitions in this build.
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

    /// The hashes of the newest versions that are not retired, in the order of keys.
    func current() async throws -> [[UInt8]] {
        try await database.read(Self.newest, [.text(nil)]).map { try $0.bytes("content_hash") }
    }

    /// The newest version that is not retired.
    func newest(of questionnaire: String) async throws -> (version: Int64, hash: [UInt8])? {
        try await database.read(Self.newestHash, [.text(questionnaire)]).first.map {
            (try $0.integer("version"), try $0.bytes("content_hash"))
        }
    }

    /// - Parameters:
    ///   - version: `nil` for the newest that is not retired.
    ///   - isWhole: whether the definition is returned whole; otherwise only what everybody may read.
    func published(
        _ questionnaire: String, version: Int64?, isWhole: Bool
    ) async throws -> PublishedQuestionnaire? {
        let values: [SQLValue] = [.text(questionnaire)] + (version.map { [.integer($0)] } ?? [])
        let rows = try await database.read(version == nil ? Self.newest : Self.one, values)
        guard let row = rows.first else { return nil }
        let content = try row.text("content")
        return PublishedQuestionnaire(
            key: questionnaire, version: try row.integer("version"), hash: Hex.encode(try row.bytes("content_hash")),
            publishedAt: try row.timestamp("published_at"),
            definition: try await Loop.compute {
                let whole = try JSONValue.parse(Array(content.utf8), limits: DefinitionParser.limits)
                return isWhole ? whole : PublicDefinition.document(of: whole)
            }, isWhole: isWhole ? true : nil)
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
