import BusProtocol
import Database
import EventLoop

/// Rows of devices.
@Loop enum DeviceStore {
    /// The devices of a person, the one used last first; a hundred at the most.
    static func list(of person: Identifier, session: Identifier, in database: Database) async throws -> [KnownDevice] {
        try await database.read(select, [.uuid(person), .uuid(session)]).map { try KnownDevice($0) }
    }

    /// Locks the device until the transaction ends, and says whether it is the session's own; `nil` where it is not the
    /// person's.
    static func isOwn(
        _ id: Identifier, person: Identifier, session: Identifier, in transaction: Transaction
    ) async throws -> Bool? {
        try await transaction.query(lock, [.uuid(id), .uuid(person), .uuid(session)]).first?.bool("is_own")
    }

    /// - Parameter push: the sealed token; `nil` leaves the one that is known.
    static func change(
        _ id: Identifier, name: String, platform: String, push: [UInt8]?, session: Identifier,
        in transaction: Transaction
    ) async throws -> KnownDevice? {
        let values: [SQLValue] = [.uuid(id), .text(name), .text(platform), .bytes(push), .uuid(session)]
        return try await transaction.query(change, values).first.map { try KnownDevice($0) }
    }

    /// The hash of a device's secret, where the device is the person's.
    static func secretHash(
        of id: Identifier, person: Identifier, in transaction: Transaction
    ) async throws -> [UInt8]? {
        try await transaction.query(
            "SELECT secret_hash FROM devices WHERE id = $1 AND person_id = $2", [.uuid(id), .uuid(person)]
        ).first?.bytes("secret_hash")
    }

    static func insert(
        _ id: Identifier, person: Identifier, secret: [UInt8], claim: DeviceClaim, push: [UInt8]?,
        in transaction: Transaction
    ) {
        transaction.send(
            insert,
            [.uuid(id), .uuid(person), .bytes(secret), .text(claim.name), .text(claim.platform), .bytes(push)])
    }

    /// Notes that a known device is used, and what it says of itself now.
    static func touch(_ id: Identifier, claim: DeviceClaim, push: [UInt8]?, in transaction: Transaction) {
        transaction.send(touch, [.uuid(id), .text(claim.name), .text(claim.platform), .bytes(push)])
    }

    /// The devices of a person that a push can be sent to.
    static func reachable(of person: Identifier, in transaction: Transaction) async throws -> [Identifier] {
        try await transaction.query(
            "SELECT id FROM devices WHERE person_id = $1 AND push_token_sealed IS NOT NULL", [.uuid(person)]
        ).map { try $0.uuid("id") }
    }

    /// The sealed push token; `nil` where the device has none (any more).
    static func pushToken(of id: Identifier, in database: Database) async throws -> [UInt8]? {
        try await database.read("SELECT push_token_sealed FROM devices WHERE id = $1", [.uuid(id)]).first?
            .optionalBytes("push_token_sealed")
    }

    private static let select: Statement = """
        SELECT d.id, d.name, d.platform, d.push_token_sealed IS NOT NULL AS has_push_token, d.created_at, d.last_used_at,
            EXISTS (SELECT 1 FROM sessions s WHERE s.id = $2 AND s.device_id = d.id) AS is_current
        FROM devices d WHERE d.person_id = $1 ORDER BY d.last_used_at DESC LIMIT 100
        """
    private static let lock: Statement = """
        SELECT s.device_id = d.id AS is_own
        FROM devices d JOIN sessions s ON s.id = $3 AND s.person_id = $2
        WHERE d.id = $1 AND d.person_id = $2 FOR UPDATE OF d
        """
    private static let change: Statement = """
        UPDATE devices d SET name = $2, platform = $3, push_token_sealed = coalesce($4, push_token_sealed),
            last_used_at = clock_timestamp()
        WHERE d.id = $1
        RETURNING d.id, d.name, d.platform, d.push_token_sealed IS NOT NULL AS has_push_token, d.created_at,
            d.last_used_at, EXISTS (SELECT 1 FROM sessions s WHERE s.id = $5 AND s.device_id = d.id) AS is_current
        """
    private static let insert: Statement = """
        INSERT INTO devices (id, person_id, secret_hash, name, platform, push_token_sealed) VALUES ($1, $2, $3, $4, $5, $6)
        """
    private static let touch: Statement = """
        UPDATE devices SET name = $2, platform = $3, push_token_sealed = coalesce($4, push_token_sealed),
            last_used_at = clock_timestamp()
        WHERE id = $1
        """
}

extension KnownDevice {
    fileprivate init(_ row: Row) throws(DatabaseError) {
        self.init(
            id: try row.uuid("id"), name: try row.text("name"), platform: try row.text("platform"),
            hasPushToken: try row.bool("has_push_token"), current: try row.bool("is_current"),
            createdAt: try row.timestamp("created_at"), lastUsedAt: try row.timestamp("last_used_at"))
    }
}
