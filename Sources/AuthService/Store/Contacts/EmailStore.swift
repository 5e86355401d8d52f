import BusProtocol
import Database
import EventLoop

/// The email address that opens an account by a code.
struct LinkedEmail: Sendable {
    /// The address, sealed for the account.
    let sealed: [UInt8]
    let linkedAt: Timestamp
    let lastUsedAt: Timestamp
}

/// Rows of the email addresses of accounts, one at most for each.
@Loop enum EmailStore {
    /// The address of an account; `nil` if it has none.
    static func email(of person: Identifier, in transaction: Transaction) async throws -> LinkedEmail? {
        try await transaction.query(select, [.uuid(person)]).first.map { try LinkedEmail($0) }
    }

    static func email(of person: Identifier, in database: Database) async throws -> LinkedEmail? {
        try await database.read(select, [.uuid(person)]).first.map { try LinkedEmail($0) }
    }

    /// The person who has an address.
    static func owner(of email: ContactHashes, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query(owner, [email.sought]).first?.uuid("person_id")
    }

    static func insert(
        _ email: ContactHashes, of person: Identifier, sealed: [UInt8], in transaction: Transaction
    ) {
        transaction.send(insert, email.row + [.uuid(person), .bytes(sealed)])
    }

    /// Records that a code to the address opened the account.
    static func touch(_ person: Identifier, in transaction: Transaction) {
        transaction.send("UPDATE emails SET last_used_at = clock_timestamp() WHERE person_id = $1", [.uuid(person)])
    }

    static func remove(of person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM emails WHERE person_id = $1", [.uuid(person)])
    }

    private static let owner = Statement(
        "SELECT e.person_id FROM emails e WHERE \(ContactHashes.found("e", by: "$1"))")
    private static let insert: Statement = """
        INSERT INTO emails (hash, key_id, other_hash, other_key_id, person_id, sealed) VALUES ($1, $2, $3, $4, $5, $6)
        """
    private static let select: Statement = """
        SELECT sealed, linked_at, last_used_at FROM emails WHERE person_id = $1
        """
}

extension LinkedEmail {
    fileprivate init(_ row: Row) throws {
        self.init(
            sealed: try row.bytes("sealed"), linkedAt: try row.timestamp("linked_at"),
            lastUsedAt: try row.timestamp("last_used_at"))
    }
}
