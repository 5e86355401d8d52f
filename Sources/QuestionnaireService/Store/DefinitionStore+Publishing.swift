import BusProtocol
import Database
import EventLoop

extension DefinitionStore {
    /// Waits until no other transaction publishes. Others then wait until this transaction ends.
    static func waitForTurn(in transaction: Transaction) { transaction.send(lock) }

    /// The hash of what was published under a definition's version; `nil` if nothing was.
    static func hash(of definition: Definition, in transaction: Transaction) async throws -> [UInt8]? {
        try await transaction.query(find, version(of: definition)).first?.bytes("content_hash")
    }

    /// The texts of the versions before a definition's version, the oldest first.
    static func contents(before definition: Definition, in transaction: Transaction) async throws -> [[UInt8]] {
        try await transaction.query(findEarlier, version(of: definition)).map { Array(try $0.text("content").utf8) }
    }

    static func insert(_ definition: Definition, in transaction: Transaction) {
        let content = String(decoding: definition.canonicalText, as: UTF8.self)
        transaction.send(insert, version(of: definition) + [.bytes(definition.hash), .text(content)])
    }

    private static func version(of definition: Definition) -> [SQLValue] {
        [.text(definition.key), .integer(definition.version)]
    }

    // Replicas that start together take turns. A replica that waits for too long tries again a second later.
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
