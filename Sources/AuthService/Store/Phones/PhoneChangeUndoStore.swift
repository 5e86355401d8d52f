import BusProtocol
import Database
import EventLoop

/// Changes of numbers that can be undone: a former number is given back, or a first number is taken off.
@Loop enum PhoneChangeUndoStore {
    /// The proof that the caller has the former number, or the address of the account.
    enum Proof: Sendable {
        /// The hash of the token in the SMS or the email.
        case token([UInt8])
        case number(ContactHashes)
        case address(ContactHashes)

        fileprivate var values: [SQLValue] {
            let nothing = SQLValue.array([.bytes(nil)])
            let proof: [SQLValue] =
                switch self {
                case .token(let hash): [.bytes(hash), nothing, nothing]
                case .number(let phone): [.bytes(nil), phone.sought, nothing]
                case .address(let email): [.bytes(nil), nothing, email.sought]
                }
            return proof + [.integer(PhoneChangeUndo.patience.components.seconds)]
        }
    }

    /// The person whose number was changed. Locks nothing.
    static func person(by proof: Proof, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query(find, proof.values).first?.uuid("person_id")
    }

    /// Reads the change and locks its row until the transaction ends; `nil` if the change was undone meanwhile.
    static func locked(
        of person: Identifier, by proof: Proof, in transaction: Transaction
    ) async throws -> PhoneChangeUndo? {
        let values = proof.values + [.uuid(person)]
        var row = try await transaction.query(lockFormer, values).first
        if row == nil { row = try await transaction.query(lockFirst, values).first }
        return try row.map {
            PhoneChangeUndo(
                sealed: try $0.optionalBytes("sealed"), at: try $0.timestamp("at"),
                changedBy: try $0.optionalUUID("changed_by"), takesEmailDevices: try $0.bool("takes_email_devices"))
        }
    }

    /// Takes the first number off the account. It and the later numbers cannot recover the account.
    static func takeOff(_ change: PhoneChangeUndo, from person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM phones WHERE person_id = $1", [.uuid(person)])
        transaction.send(
            "DELETE FROM phone_aliases WHERE person_id = $1 AND taken_off_at >= $2",
            [.uuid(person), .timestamp(change.at)])
        transaction.send(
            "UPDATE emails SET first_number_at = NULL, first_number_token_hash = NULL WHERE person_id = $1",
            [.uuid(person)])
    }

    /// Gives the number back to the account. The later numbers of the account cannot recover it.
    ///
    /// - Parameters:
    ///   - sealed: the number, sealed for the account.
    ///   - phone: the hashes of the number.
    static func restore(
        _ sealed: [UInt8], _ phone: ContactHashes, changed at: Timestamp, to person: Identifier,
        in transaction: Transaction
    ) {
        transaction.send("DELETE FROM phones WHERE person_id = $1", [.uuid(person)])
        let values: [SQLValue] = [.uuid(person), .bytes(sealed), .timestamp(at), phone.sought]
        transaction.send(restore, phone.row + values)
    }

    /// The hash of a device's secret; `nil` unless the account knew the device before ``PhoneChangeUndo/doubtedSince``.
    /// If a device was removed by one that came later, it still counts.
    static func secret(
        of device: Identifier, of person: Identifier, _ number: PhoneChangeUndo, in transaction: Transaction
    ) async throws -> [UInt8]? {
        try await transaction.query(
            secret,
            [.uuid(device), .uuid(person), .timestamp(number.doubtedSince), .bool(number.takesEmailDevices)]
        ).first?.bytes("secret_hash")
    }

    /// The device of a session. It is `nil` unless the session is alive, is older than
    /// ``PhoneChangeUndo/doubtedSince``, and did not make the change.
    static func device(
        of actor: Actor, _ number: PhoneChangeUndo, in transaction: Transaction
    ) async throws -> Identifier? {
        let values: [SQLValue] = [
            .uuid(actor.sessionID), .uuid(actor.userID), .timestamp(number.doubtedSince), .uuid(number.changedBy),
            .bool(number.takesEmailDevices),
        ]
        return try await transaction.query(session, values).first?.uuid("device_id")
    }

    private static let former = """
        phone_aliases a WHERE a.taken_off_at > clock_timestamp() - $4::bigint * interval '1 s'
            AND (a.token_hash = $1 OR \(ContactHashes.found("a", by: "$2")))
        """
    private static let first = """
        emails e WHERE e.first_number_at > clock_timestamp() - $4::bigint * interval '1 s'
            AND (e.first_number_token_hash = $1 OR \(ContactHashes.found("e", by: "$3")))
        """
    private static let find = Statement(
        """
        SELECT person_id FROM (
            SELECT a.person_id, a.taken_off_at AS at FROM \(former)
            UNION ALL SELECT e.person_id, e.first_number_at FROM \(first)) AS changes
        ORDER BY at DESC LIMIT 1
        """)
    private static let lockFormer = Statement(
        """
        SELECT a.sealed, a.taken_off_at AS at, a.changed_by, false AS takes_email_devices FROM \(former)
            AND a.person_id = $5 ORDER BY a.taken_off_at DESC LIMIT 1 FOR UPDATE
        """)
    private static let lockFirst = Statement(
        """
        SELECT NULL::bytea AS sealed, e.first_number_at AS at, e.first_number_by AS changed_by,
            e.was_strongest AS takes_email_devices FROM \(first) AND e.person_id = $5 FOR UPDATE
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
            AND EXISTS (SELECT 1 FROM sessions s WHERE s.person_id = d.person_id AND s.device_id = d.id
                AND ($4 OR s.otp_at IS NOT NULL OR s.opened_by IS NOT NULL))
        """
    private static let session: Statement = """
        SELECT s.device_id FROM sessions s
        WHERE s.id = $1 AND s.person_id = $2 AND s.created_at < $3 AND s.id IS DISTINCT FROM $4 AND s.revoked_at IS NULL
            AND ($5 OR s.otp_at IS NOT NULL OR s.opened_by IS NOT NULL)
        """
}
