import BusProtocol
import Database
import EventLoop

/// Reads when accounts were last used, and removes the numbers of dormant ones.
@Loop enum DormancyStore {
    /// The person who has a number. Locks nothing.
    static func holder(of phone: ContactHashes, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query(holder, [phone.sought]).first?.uuid("person_id")
    }

    /// When an account was last used; `nil` if it does not have the number.
    static func seen(
        _ person: Identifier, phone: ContactHashes, in transaction: Transaction
    ) async throws -> Timestamp? {
        try await transaction.query(seen, [.uuid(person), phone.sought]).first?.timestamp("seen_at")
    }

    static func detach(_ person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM phones WHERE person_id = $1", [.uuid(person)])
    }

    private static let holder = Statement(
        "SELECT p.person_id FROM phones p WHERE \(ContactHashes.found("p", by: "$1"))")
    /// SQL: when an account was last used. A row `p` with the columns of `phones` is a way into the account. When
    /// housekeeping deletes an ended session, it keeps the time of the last use in the device's row.
    static let seenAt = """
        greatest(p.created_at,
            (SELECT max(d.last_used_at) FROM devices d WHERE d.person_id = p.person_id),
            (SELECT max(s.last_used_at) FROM sessions s WHERE s.person_id = p.person_id),
            (SELECT max(i.last_used_at) FROM identities i WHERE i.person_id = p.person_id))
        """
    private static let seen = Statement(
        """
        SELECT \(seenAt) AS seen_at FROM phones p WHERE p.person_id = $1 AND \(ContactHashes.found("p", by: "$2"))
        """)
}
