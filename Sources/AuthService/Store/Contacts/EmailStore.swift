import BusProtocol
import Database
import EventLoop

/// The email address that opens an account by a code.
struct LinkedEmail: Sendable {
    /// The address, sealed for the account.
    let sealed: [UInt8]
    let linkedAt: Timestamp
    let lastUsedAt: Timestamp
    /// The time in which the account's first number can be taken off by the address; `nil` if it cannot.
    let guardsFor: Duration?
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

    /// Records that the account gets its first number. The reader of the address can take that number off again.
    ///
    /// - Parameters:
    ///   - session: the session that sets the number.
    ///   - token: the hash of the token that takes the number off.
    /// - Returns: the address; `nil` if the number cannot be taken off. That is so if there is no address, or if it is
    ///   so new that a thief may have linked it. It is also so if the account has known the session's device for long
    ///   enough to trust it.
    static func noteFirstNumber(
        of person: Identifier, by session: Identifier, token: [UInt8], in transaction: Transaction
    ) async throws -> LinkedEmail? {
        let values: [SQLValue] = [
            .uuid(person), .uuid(session), .bytes(token), .integer(PhoneChangeUndo.doubt.components.seconds),
        ]
        return try await transaction.query(noteFirstNumber, values).first.map { try LinkedEmail($0) }
    }

    private static let owner = Statement(
        "SELECT e.person_id FROM emails e WHERE \(ContactHashes.found("e", by: "$1"))")
    private static let insert: Statement = """
        INSERT INTO emails (hash, key_id, other_hash, other_key_id, person_id, sealed) VALUES ($1, $2, $3, $4, $5, $6)
        """
    private static let columns = """
        sealed, linked_at, last_used_at, ceil(extract(epoch FROM first_number_at - clock_timestamp()))::bigint
            + \(PhoneChangeUndo.patience.components.seconds) AS guarded_seconds
        """
    private static let select = Statement("SELECT \(columns) FROM emails WHERE person_id = $1")
    /// An identity so new that a thief may have added it is not stronger than the address. A number that a known device
    /// sets stays. Otherwise a thief who reads the emails and has an older device could take the owner's number off.
    private static let noteFirstNumber = Statement(
        """
        UPDATE emails e SET first_number_at = clock_timestamp(), first_number_by = $2, first_number_token_hash = $3,
            was_strongest = NOT EXISTS (SELECT FROM identities i WHERE i.person_id = e.person_id
                AND i.to_confirm_since IS NULL AND i.linked_at <= clock_timestamp() - $4::bigint * interval '1 s')
        WHERE person_id = $1 AND linked_at <= clock_timestamp() - $4::bigint * interval '1 s'
            AND EXISTS (SELECT FROM sessions s JOIN devices d ON d.id = s.device_id
                WHERE s.id = $2 AND d.created_at > clock_timestamp() - $4::bigint * interval '1 s')
        RETURNING \(columns)
        """)
}

extension LinkedEmail {
    fileprivate init(_ row: Row) throws {
        self.init(
            sealed: try row.bytes("sealed"), linkedAt: try row.timestamp("linked_at"),
            lastUsedAt: try row.timestamp("last_used_at"),
            guardsFor: try row.optionalInteger("guarded_seconds").flatMap { $0 > 0 ? .seconds($0) : nil })
    }
}
