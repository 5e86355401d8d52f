import Cryptography
import Database
import EventLoop

/// Publishes the definition that this build brings along, once, however many replicas start together.
@Loop struct DefinitionImport {
    enum Result: Equatable { case published, alreadyThere }

    /// A published version never changes: what was edited needs a version of its own.
    struct Edited: Error {}

    let database: Database
    let definition: Definition

    /// - Throws: ``Edited`` where another text was published under the same version, ``DefinitionError`` where it takes the
    ///   key of something that an earlier version had.
    func run() async throws -> Result {
        try await database.transaction { transaction in
            transaction.send(Self.lock)
            let version: [SQLValue] = [.text(definition.key), .integer(definition.version)]
            if let row = try await transaction.query(Self.find, version).first {
                guard try row.bytes("content_hash") == definition.hash else { throw Edited() }
                return .alreadyThere
            }
            let earlier = try await transaction.query(Self.findEarlier, version).map { row in
                try DefinitionParser.read(Array(try row.text("content").utf8)).file
            }
            let problems = RetiredKeys(earlier).problems(in: try DefinitionParser.read(definition.canonicalText).file)
            guard problems.isEmpty else { throw DefinitionError(problems: problems) }
            let content = String(decoding: definition.canonicalText, as: UTF8.self)
            transaction.send(Self.insert, version + [.bytes(definition.hash), .text(content)])
            return .published
        }
    }

    // Replicas that start together take turns; who waits for too long comes again a second later.
    private static let lock: Statement = """
        SELECT pg_advisory_xact_lock(hashtext('vestibule/questionnaire/import'))
        """
    private static let find: Statement = """
        SELECT content_hash FROM definitions WHERE questionnaire = $1 AND version = $2
        """
    private static let findEarlier: Statement = """
        SELECT content FROM definitions WHERE questionnaire = $1 AND version < $2 ORDER BY version
        """
    private static let insert: Statement = """
        INSERT INTO definitions (questionnaire, version, content_hash, content) VALUES ($1, $2, $3, $4)
        """
}
