import EventLoop
import Values

/// The end of everything that a service holds about a person, and the mark that stays: who is erased is never begun again
/// by what comes late.
///
/// The mark is the SHA-256 of the person's id, which is random: nobody gets back from it.
@Loop public enum Erasure {
    /// The runtime's own tables with a person's id, which ``withdraw(_:in:)`` and ``erase(_:in:)`` look after.
    nonisolated public static let tables = ["outbox", "outbox_sequences", "event_positions", "pseudonyms"]

    /// Waits until nobody else begins or ends the person, and has the others wait until the transaction ends. A row for a
    /// person who is new to the service is written behind it, by a statement that asks `is_erased`.
    public static func wait(for person: Identifier, in transaction: Transaction) {
        transaction.send(turn, [.uuid(person)])
    }

    /// The same wait as an SQL expression, for a person whom a row of the service names. It waits for nobody where the
    /// column is null.
    ///
    /// - Parameter column: of type `uuid`.
    nonisolated public static func wait(forPersonIn column: String) -> String {
        AdvisoryLock.person.wait(for: "\(column)::text")
    }

    /// Takes back what was told about the person and not delivered yet, dead letters included: what is told next is the
    /// head of its queue.
    public static func withdraw(_ person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM outbox WHERE person_id = $1", [.uuid(person)])
    }

    /// Sets the mark, and removes what the runtime's own tables hold about the person: what was counted of events, and
    /// whose audit chain is whose. The service removes its own rows in the same transaction.
    public static func erase(_ person: Identifier, in transaction: Transaction) {
        for statement in statements { transaction.send(statement, [.uuid(person)]) }
    }

    /// Whether the person was deleted.
    public static func isErased(_ person: Identifier, in transaction: Transaction) async throws -> Bool {
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
