import BusProtocol
import Database
import EventLoop

/// Rows of the present and former numbers of accounts.
@Loop enum PhoneStore {
    /// How long a former number can recover the account.
    static let aliasLife = Duration.seconds(90 * 86_400)

    /// The number of an account; `nil` if it has none.
    ///
    /// - Returns: the number, sealed for the account.
    static func phone(of person: Identifier, in transaction: Transaction) async throws -> [UInt8]? {
        try await transaction.query("SELECT sealed FROM phones WHERE person_id = $1", [.uuid(person)]).first?
            .bytes("sealed")
    }

    /// The person who has a number. Waits for a sign-up with the number that is under way.
    static func owner(of phone: ContactHashes, in transaction: Transaction) async throws -> Identifier? {
        AccountStore.lock(phone: phone, in: transaction)
        return try await transaction.query(owner, [phone.sought]).first?.uuid("person_id")
    }

    /// Keeps the account's present number as a way to recover the account. Call it before the number is replaced.
    ///
    /// - Parameters:
    ///   - phone: the hashes of the present number.
    ///   - session: the session that changes the number.
    ///   - token: the hash of the token that undoes the change.
    static func keepAlias(
        _ phone: ContactHashes, of person: Identifier, by session: Identifier, token: [UInt8],
        in transaction: Transaction
    ) {
        let values: [SQLValue] = [
            .uuid(person), .integer(aliasLife.components.seconds), .bytes(token), .uuid(session),
        ]
        transaction.send(keepAlias, values + phone.row)
    }

    /// Deletes the former numbers of an account, so that none can recover it.
    static func dropAliases(of person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM phone_aliases WHERE person_id = $1", [.uuid(person)])
    }

    /// Gives an account another number, which is then no longer one of its former numbers.
    static func move(
        _ person: Identifier, to phone: ContactHashes, sealed: [UInt8], in transaction: Transaction
    ) {
        transaction.send("DELETE FROM phones WHERE person_id = $1", [.uuid(person)])
        transaction.send(move, phone.row + [.uuid(person), .bytes(sealed), phone.sought])
    }

    /// If a former number comes back, the time for which the account had it before counts too.
    private static let move = Statement(
        """
        WITH back AS (
            DELETE FROM phone_aliases a WHERE person_id = $5 AND \(ContactHashes.found("a", by: "$7")) RETURNING held)
        INSERT INTO phones (hash, key_id, other_hash, other_key_id, person_id, sealed, held_before)
        VALUES ($1, $2, $3, $4, $5, $6, coalesce((SELECT max(held) FROM back), '0'))
        """)
    private static let owner = Statement(
        "SELECT p.person_id FROM phones p WHERE \(ContactHashes.found("p", by: "$1"))")
    private static let keepAlias: Statement = """
        INSERT INTO phone_aliases AS a
            (person_id, hash, key_id, other_hash, other_key_id, sealed, until, token_hash, changed_by, held)
        SELECT person_id, $5, $6, $7, $8, sealed, clock_timestamp() + $2::bigint * interval '1 s', $3, $4,
            held_before + (clock_timestamp() - created_at)
        FROM phones WHERE person_id = $1
        ON CONFLICT (person_id, hash) DO UPDATE SET taken_off_at = excluded.taken_off_at, until = excluded.until,
            token_hash = excluded.token_hash, changed_by = excluded.changed_by, held = excluded.held
        """
}
