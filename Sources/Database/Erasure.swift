import EventLoop
import Values

/// Erases everything that a service holds about a person, and leaves a mark. With the mark, a late message cannot
/// create data about the person again.
///
/// The mark is the SHA-256 of the person's ID. The ID is random, so the mark does not reveal it.
@Loop package enum Erasure {
    /// The runtime's own tables with a person's ID. ``withdraw(_:in:)`` and ``erase(_:in:)`` remove the person from
    /// them.
    nonisolated package static let tables = [
        "outbox", "outbox_delivered", "outbox_sequences", "event_positions", "pseudonyms",
    ]

    /// Waits for other transactions that create or erase the person, and makes later ones wait until this transaction
    /// ends.
    ///
    /// A service calls this before it writes the first row about a person. The statement that writes the row checks
    /// `is_erased`.
    package static func wait(for person: Identifier, in transaction: Transaction) {
        transaction.send(turn, [.uuid(person)])
    }

    /// The same wait as an SQL expression, for the person in a row of the service. It does not wait if the column is
    /// null.
    ///
    /// - Parameter column: of type `uuid`.
    nonisolated package static func wait(forPersonIn column: String) -> String {
        AdvisoryLock.person.wait(for: "\(column)::text")
    }

    /// Removes undelivered outbox items about the person, including dead letters. So no removed item blocks another
    /// one. Delivered events are removed, too. An event may move between the two tables at the same time, in either
    /// direction.
    package static func withdraw(_ person: Identifier, in transaction: Transaction) {
        for table in ["outbox", "outbox_delivered", "outbox"] {
            transaction.send(Statement("DELETE FROM \(table) WHERE person_id = $1"), [.uuid(person)])
        }
    }

    /// Sets the mark, and removes the person from the runtime's own tables: event sequence numbers and the pseudonym of
    /// the audit chain. The service removes its own rows in the same transaction.
    package static func erase(_ person: Identifier, in transaction: Transaction) {
        for statement in statements { transaction.send(statement, [.uuid(person)]) }
    }

    /// Whether the person was deleted.
    package static func isErased(_ person: Identifier, in transaction: Transaction) async throws -> Bool {
        try await transaction.query("SELECT is_erased($1) AS is_erased", [.uuid(person)]).first?.bool("is_erased")
            ?? false
    }

    private static let turn = Statement("SELECT \(wait(forPersonIn: "$1::uuid"))")
    private static let statements: [Statement] = [
        "INSERT INTO erased (digest) VALUES (sha256(uuid_send($1))) ON CONFLICT DO NOTHING",
        "DELETE FROM outbox_sequences WHERE person_id = $1", "DELETE FROM event_positions WHERE person_id = $1",
        "DELETE FROM pseudonyms WHERE person_id = $1",
    ]
}
