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
            Self.takeTurn(in: transaction)
            let version: [SQLValue] = [.text(definition.key), .integer(definition.version)]
            if let row = try await transaction.query(Self.find, version).first {
                guard try row.bytes("content_hash") == definition.hash else { throw Edited() }
                return .alreadyThere
            }
            let documents = try await transaction.query(Self.findEarlier, version).map { row in
                try DefinitionParser.read(Array(try row.text("content").utf8))
            }
            let earlier = documents.map(\.file)
            let file = try DefinitionParser.read(definition.canonicalText).file
            var problems = RetiredKeys(earlier).problems(in: file) + SharedTexts.problems(in: file)
            problems += DerivedFrom(documents.map(\.document.root.value)).problems(in: file)
            if let before = earlier.last {
                problems += SessionMigrationRules(entries: file.migrations ?? [], old: before, new: file).problems
            }
            guard problems.isEmpty else { throw DefinitionError(problems: problems) }
            let content = String(decoding: definition.canonicalText, as: UTF8.self)
            transaction.send(Self.insert, version + [.bytes(definition.hash), .text(content)])
            return .published
        }
    }

    /// Waits until nobody else publishes, and has the others wait until the transaction ends.
    static func takeTurn(in transaction: Transaction) { transaction.send(lock) }

    // Replicas that start together take turns; who waits for too long comes again a second later.
    private static let lock = Statement("SELECT \(AdvisoryLock.definitions.wait())")
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
