import BusProtocol
import Database
import EventLoop

/// An account's number as its row says.
struct KnownPhone: Sendable {
    let hash: [UInt8]
    let sealed: [UInt8]
}

/// Rows of accounts' numbers, of now and of before.
@Loop enum PhoneStore {
    /// A number that was taken off an account is a way to recover it for so long.
    static let aliasLife = Duration.seconds(90 * 86_400)

    /// The number of an account; `nil` where it has none.
    static func phone(of person: Identifier, in transaction: Transaction) async throws -> KnownPhone? {
        try await transaction.query("SELECT hash, sealed FROM phones WHERE person_id = $1", [.uuid(person)]).first.map {
            KnownPhone(hash: try $0.bytes("hash"), sealed: try $0.bytes("sealed"))
        }
    }

    /// Whose a number is, once whoever signs up with it at this moment is through.
    static func owner(of phone: [UInt8], in transaction: Transaction) async throws -> Identifier? {
        AccountStore.lock(phone: phone, in: transaction)
        return try await transaction.query("SELECT person_id FROM phones WHERE hash = $1", [.bytes(phone)]).first?
            .uuid("person_id")
    }

    /// Makes the number that an account has a way to recover it, before another takes its place.
    ///
    /// - Parameters:
    ///   - session: which changes the number.
    ///   - token: the hash of what takes the change back.
    static func keepAlias(
        of person: Identifier, by session: Identifier, token: [UInt8], in transaction: Transaction
    ) {
        transaction.send(
            keepAlias, [.uuid(person), .integer(aliasLife.components.seconds), .bytes(token), .uuid(session)])
    }

    /// No number that an account had before is a way to recover it any more.
    static func dropAliases(of person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM phone_aliases WHERE person_id = $1", [.uuid(person)])
    }

    /// Gives an account another number, which is none of its former ones any more.
    static func move(
        _ person: Identifier, to phone: [UInt8], keyID: String, sealed: [UInt8], in transaction: Transaction
    ) {
        transaction.send("DELETE FROM phones WHERE person_id = $1", [.uuid(person)])
        transaction.send(move, [.bytes(phone), .text(keyID), .uuid(person), .bytes(sealed)])
    }

    /// A number that comes back was the account's for as long as before, and not from now on only.
    private static let move: Statement = """
        WITH back AS (DELETE FROM phone_aliases WHERE person_id = $3 AND hash = $1 RETURNING held)
        INSERT INTO phones (hash, key_id, person_id, sealed, held_before)
        VALUES ($1, $2, $3, $4, coalesce((SELECT held FROM back), '0'))
        """
    private static let keepAlias: Statement = """
        INSERT INTO phone_aliases AS a (person_id, hash, key_id, sealed, until, token_hash, changed_by, held)
        SELECT person_id, hash, key_id, sealed, clock_timestamp() + $2::bigint * interval '1 s', $3, $4,
            held_before + (clock_timestamp() - created_at)
        FROM phones WHERE person_id = $1
        ON CONFLICT (person_id, hash) DO UPDATE SET taken_off_at = excluded.taken_off_at, until = excluded.until,
            token_hash = excluded.token_hash, changed_by = excluded.changed_by, held = excluded.held
        """
}
