import BusProtocol
import Database
import EventLoop

/// A former number of an account, whose change can still be undone.
struct PhoneChangeUndo: Sendable {
    /// The number, sealed for the account.
    let sealed: [UInt8]
    let at: Timestamp
    /// The session that changed the number.
    let changedBy: Identifier?

    /// What the account got from then on may be the work of a thief. A thief may sign in, link an identity, and then
    /// change the number in another session.
    var doubtedSince: Timestamp { at - PhoneChangeUndoStore.doubt }
}

/// Rows of former numbers whose change can be undone.
@Loop enum PhoneChangeUndoStore {
    /// How long a change can be undone.
    static let patience = Duration.seconds(72 * 3600)
    /// Devices, sessions and identities that were younger than this at the change count as a thief's.
    nonisolated static let doubt = Duration.seconds(72 * 3600)

    /// What proves that the caller has the number.
    enum Proof: Sendable {
        /// The hash of the token in the SMS.
        case token([UInt8])
        case number(ContactHashes)

        fileprivate var values: [SQLValue] {
            switch self {
            case .token(let hash): [.bytes(hash), .array([.bytes(nil)])]
            case .number(let phone): [.bytes(nil), phone.sought]
            }
        }
    }

    /// The person whose number it was. Locks nothing.
    static func person(by proof: Proof, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query(find, proof.values + [.integer(patience.components.seconds)]).first?
            .uuid("person_id")
    }

    /// Reads the number and locks its row until the transaction ends; `nil` if the change was undone meanwhile.
    static func locked(
        of person: Identifier, by proof: Proof, in transaction: Transaction
    ) async throws -> PhoneChangeUndo? {
        let values = proof.values + [.integer(patience.components.seconds), .uuid(person)]
        return try await transaction.query(lock, values).first.map {
            PhoneChangeUndo(
                sealed: try $0.bytes("sealed"), at: try $0.timestamp("taken_off_at"),
                changedBy: try $0.optionalUUID("changed_by"))
        }
    }

    /// Gives the number back to the account. The later numbers of the account cannot recover it.
    ///
    /// - Parameter phone: the hashes of the number.
    static func restore(
        _ number: PhoneChangeUndo, _ phone: ContactHashes, to person: Identifier, in transaction: Transaction
    ) {
        transaction.send("DELETE FROM phones WHERE person_id = $1", [.uuid(person)])
        let values: [SQLValue] = [.uuid(person), .bytes(number.sealed), .timestamp(number.at), phone.sought]
        transaction.send(restore, phone.row + values)
    }

    /// The hash of a device's secret; `nil` unless the account knew the device before ``PhoneChangeUndo/doubtedSince``.
    /// If a device was removed by one that came later, it still counts.
    static func secret(
        of device: Identifier, of person: Identifier, _ number: PhoneChangeUndo, in transaction: Transaction
    ) async throws -> [UInt8]? {
        try await transaction.query(secret, [.uuid(device), .uuid(person), .timestamp(number.doubtedSince)]).first?
            .bytes("secret_hash")
    }

    /// The device of a session. It is `nil` unless the session is alive, is older than
    /// ``PhoneChangeUndo/doubtedSince``, and did not make the change.
    static func device(
        of actor: Actor, _ number: PhoneChangeUndo, in transaction: Transaction
    ) async throws -> Identifier? {
        let values: [SQLValue] = [
            .uuid(actor.sessionID), .uuid(actor.userID), .timestamp(number.doubtedSince), .uuid(number.changedBy),
        ]
        return try await transaction.query(session, values).first?.uuid("device_id")
    }

    private static let which = """
        a.taken_off_at > clock_timestamp() - $3::bigint * interval '1 s'
            AND (a.token_hash = $1 OR \(ContactHashes.found("a", by: "$2")))
        """
    private static let find = Statement(
        "SELECT a.person_id FROM phone_aliases a WHERE \(which) ORDER BY a.taken_off_at DESC LIMIT 1")
    private static let lock = Statement(
        """
        SELECT a.sealed, a.taken_off_at, a.changed_by FROM phone_aliases a
        WHERE a.person_id = $4 AND \(which) FOR UPDATE
        """)
    private static let restore = Statement(
        """
        WITH back AS (
            DELETE FROM phone_aliases WHERE person_id = $5 AND taken_off_at >= $7 RETURNING hash, other_hash, held)
        INSERT INTO phones (hash, key_id, other_hash, other_key_id, person_id, sealed, held_before)
        VALUES ($1, $2, $3, $4, $5, $6,
            coalesce((SELECT max(b.held) FROM back b WHERE \(ContactHashes.found("b", by: "$8"))), '0'))
        """)
    private static let secret: Statement = """
        SELECT coalesce(d.removed_secret_hash, d.secret_hash) AS secret_hash
        FROM devices d LEFT JOIN devices b ON b.id = d.removed_by_device_id
        WHERE d.id = $1 AND d.person_id = $2 AND d.created_at < $3
            AND (d.removed_at IS NULL OR d.removed_secret_hash IS NOT NULL AND b.created_at >= $3)
            AND EXISTS (SELECT 1 FROM sessions s WHERE s.device_id = d.id
                AND (s.otp_at IS NOT NULL OR s.opened_by IS NOT NULL))
        """
    private static let session: Statement = """
        SELECT s.device_id FROM sessions s
        WHERE s.id = $1 AND s.person_id = $2 AND s.created_at < $3 AND s.id IS DISTINCT FROM $4 AND s.revoked_at IS NULL
            AND (s.otp_at IS NOT NULL OR s.opened_by IS NOT NULL)
        """
}
