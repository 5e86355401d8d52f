import BusProtocol
import Database
import EventLoop
import Languages

/// The present push tokens of devices, and replaced ones.
@Loop enum PushTokenStore {
    /// A token to which a push can be sent.
    struct Target: Sendable {
        let device: Identifier
        let sealed: [UInt8]
        /// The row of a replaced token; `nil` for a present token.
        let replacedID: Identifier?
        /// The language that the device last asked for.
        let language: Language
    }

    /// The push tokens of a person, the present ones first.
    static func targets(
        of person: Identifier, isRecovery: Bool, in transaction: Transaction
    ) async throws -> [Target] {
        try await transaction.query(targets, [.uuid(person), .bool(isRecovery)]).map {
            Target(
                device: try $0.uuid("device_id"), sealed: try $0.bytes("sealed"),
                replacedID: try $0.optionalUUID("replaced_id"),
                language: .named(try $0.optionalText("language")))
        }
    }

    /// Keeps a token that its device replaces. Only the first five of a device are kept, so that an attacker cannot
    /// push them out by replacing tokens repeatedly.
    static func keep(_ sealed: [UInt8], of device: LockedDevice, in transaction: Transaction) {
        transaction.send(
            keep, [.uuid(.ordered()), .uuid(device.person), .uuid(device.id), .bytes(sealed)])
    }

    static func forget(_ replaced: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM replaced_push_tokens WHERE id = $1", [.uuid(replaced)])
    }

    static func current(of device: Identifier, in database: Database) async throws -> [UInt8]? {
        try await database.read("SELECT push_token_sealed FROM devices WHERE id = $1", [.uuid(device)]).first?
            .optionalBytes("push_token_sealed")
    }

    /// The device's token, locked until the transaction ends.
    static func locked(of device: Identifier, in transaction: Transaction) async throws -> [UInt8]? {
        try await transaction.query(
            "SELECT push_token_sealed FROM devices WHERE id = $1 FOR UPDATE", [.uuid(device)]
        ).first?.optionalBytes("push_token_sealed")
    }

    static func markExpired(_ device: Identifier, in transaction: Transaction) {
        transaction.send("UPDATE devices SET push_expired_at = clock_timestamp() WHERE id = $1", [.uuid(device)])
    }

    private static let targets: Statement = """
        SELECT d.id AS device_id, d.push_token_sealed AS sealed, NULL::uuid AS replaced_id, d.language,
            d.last_used_at AS used_at
        FROM devices d
        WHERE d.person_id = $1 AND d.push_token_sealed IS NOT NULL AND d.push_expired_at IS NULL
            AND (d.removed_at IS NULL OR $2 AND d.removed_at > clock_timestamp() - interval '30 days')
        UNION ALL
        SELECT r.device_id, r.sealed, r.id, d.language, r.replaced_at
        FROM replaced_push_tokens r LEFT JOIN devices d ON d.id = r.device_id
        WHERE $2 AND r.person_id = $1 AND r.replaced_at > clock_timestamp() - interval '30 days'
        ORDER BY replaced_id NULLS FIRST, used_at DESC
        """
    private static let keep: Statement = """
        INSERT INTO replaced_push_tokens (id, person_id, device_id, sealed)
        SELECT $1, $2, $3, $4
        WHERE (SELECT count(*) FROM replaced_push_tokens WHERE person_id = $2 AND device_id = $3) < 5
        """
}
