import BusProtocol
import Database
import EventLoop
import Languages

/// A device whose row is locked until the transaction ends.
struct LockedDevice: Sendable {
    let id: Identifier
    let person: Identifier
    /// Whether it is the device of the calling session.
    let isOwn: Bool
    let isRemoved: Bool
    let platform: String
    let secretHash: [UInt8]
    /// The sealed push token.
    let push: [UInt8]?
    let isPushExpired: Bool
}

/// Rows of devices.
@Loop enum DeviceStore {
    /// The devices of a person, the most recently used first, at most 100.
    static func list(of person: Identifier, session: Identifier, in database: Database) async throws -> [KnownDevice] {
        try await database.read(select, [.uuid(person), .uuid(session)]).map { try KnownDevice($0) }
    }

    /// A device of a person, locked until the transaction ends; `nil` if the person has no such device.
    static func locked(
        _ id: Identifier, person: Identifier, session: Identifier? = nil, in transaction: Transaction
    ) async throws -> LockedDevice? {
        try await transaction.query(lock, [.uuid(id), .uuid(person), .uuid(session)]).first.map {
            LockedDevice(
                id: id, person: person, isOwn: try $0.bool("is_own"), isRemoved: try $0.bool("is_removed"),
                platform: try $0.text("platform"), secretHash: try $0.bytes("secret_hash"),
                push: try $0.optionalBytes("push_token_sealed"), isPushExpired: try $0.bool("is_push_expired"))
        }
    }

    /// The change of a device's push token.
    enum PushChange: Sendable, Equatable {
        case keep, clear
        /// The new token, sealed.
        case replace([UInt8])
    }

    static func change(
        _ id: Identifier, name: String, platform: String, push: PushChange, language: String?, session: Identifier,
        in transaction: Transaction
    ) async throws -> KnownDevice? {
        let token: [UInt8]? = if case .replace(let token) = push { token } else { nil }
        let values: [SQLValue] = [
            .uuid(id), .text(name), .text(platform), .bytes(token), .uuid(session), .bool(push == .clear),
            .text(language),
        ]
        return try await transaction.query(change, values).first.map { try KnownDevice($0) }
    }

    static func insert(
        _ id: Identifier, person: Identifier, secret: [UInt8], claim: DeviceClaim, push: [UInt8]?, language: String?,
        in transaction: Transaction
    ) {
        transaction.send(
            insert,
            [
                .uuid(id), .uuid(person), .bytes(secret), .text(claim.name), .text(claim.platform), .bytes(push),
                .text(language),
            ])
    }

    /// Records that a known device is used, and updates its name, platform, push token and language.
    static func touch(
        _ id: Identifier, claim: DeviceClaim, push: [UInt8]?, language: String?, in transaction: Transaction
    ) {
        transaction.send(
            touch, [.uuid(id), .text(claim.name), .text(claim.platform), .bytes(push), .text(language)])
    }

    /// The language that the person's devices last asked for; English if they never did.
    static func language(of person: Identifier, in transaction: Transaction) async throws -> Language {
        .named(try await transaction.query(language, [.uuid(person)]).first?.optionalText("language"))
    }

    private static let language: Statement = """
        SELECT language FROM devices WHERE person_id = $1 AND removed_at IS NULL AND language IS NOT NULL
        ORDER BY last_used_at DESC LIMIT 1
        """

    /// Removes a device: its secret is no longer accepted. Its row stays for notices of a recovery.
    ///
    /// - Parameter session: the session that removes it, on any device.
    static func remove(_ id: Identifier, by session: Identifier, in transaction: Transaction) {
        transaction.send(remove, [.uuid(id), .uuid(session)])
    }

    /// Restores a device that a younger device removed. Any other device stays as it is.
    static func restore(_ id: Identifier, in transaction: Transaction) {
        transaction.send(restore, [.uuid(id)])
    }

    /// Removes the devices that a person added since `at`, except `device`.
    static func removeAll(
        of person: Identifier, since at: Timestamp, but device: Identifier, in transaction: Transaction
    ) {
        transaction.send(removeSince, [.uuid(person), .timestamp(at), .uuid(device)])
    }

    private static let remove: Statement = """
        UPDATE devices d SET removed_at = clock_timestamp(), removed_by_device_id = b.id,
            removed_secret_hash = CASE WHEN b.created_at > d.created_at THEN d.secret_hash END, secret_hash = ''
        FROM sessions s JOIN devices b ON b.id = s.device_id WHERE d.id = $1 AND s.id = $2
        """
    private static let restore: Statement = """
        UPDATE devices SET removed_at = NULL, removed_by_device_id = NULL, secret_hash = removed_secret_hash,
            removed_secret_hash = NULL
        WHERE id = $1 AND removed_secret_hash IS NOT NULL
        """
    private static let removeSince: Statement = """
        UPDATE devices SET removed_at = clock_timestamp(), secret_hash = ''
        WHERE person_id = $1 AND created_at >= $2 AND id <> $3 AND removed_at IS NULL
        """
    private static let select: Statement = """
        SELECT d.id, d.name, d.platform, d.push_token_sealed IS NOT NULL AS has_push_token, d.created_at,
            greatest(d.last_used_at, (SELECT max(u.last_used_at) FROM sessions u WHERE u.device_id = d.id AND u.person_id = $1))
                AS last_used_at,
            d.push_expired_at IS NOT NULL AS is_push_expired,
            EXISTS (SELECT 1 FROM sessions s WHERE s.id = $2 AND s.device_id = d.id) AS is_current
        FROM devices d WHERE d.person_id = $1 AND d.removed_at IS NULL ORDER BY last_used_at DESC LIMIT 100
        """
    private static let lock: Statement = """
        SELECT d.platform, d.secret_hash, d.push_token_sealed, d.push_expired_at IS NOT NULL AS is_push_expired,
            d.removed_at IS NOT NULL AS is_removed,
            EXISTS (SELECT 1 FROM sessions s WHERE s.id = $3 AND s.device_id = d.id) AS is_own
        FROM devices d WHERE d.id = $1 AND d.person_id = $2 FOR UPDATE
        """
    /// A presented token counts as alive until its provider reports otherwise, even if it is the same as before.
    private static let change: Statement = """
        UPDATE devices d SET name = $2, platform = $3,
            push_token_sealed = CASE WHEN NOT $6 THEN coalesce($4, push_token_sealed) END,
            push_expired_at = CASE WHEN $4 IS NULL AND NOT $6 THEN push_expired_at END, last_used_at = clock_timestamp(),
            language = coalesce($7, language)
        WHERE d.id = $1
        RETURNING d.id, d.name, d.platform, d.push_token_sealed IS NOT NULL AS has_push_token, d.created_at,
            d.last_used_at, d.push_expired_at IS NOT NULL AS is_push_expired,
            EXISTS (SELECT 1 FROM sessions s WHERE s.id = $5 AND s.device_id = d.id) AS is_current
        """
    private static let insert: Statement = """
        INSERT INTO devices (id, person_id, secret_hash, name, platform, push_token_sealed, language)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
    private static let touch: Statement = """
        UPDATE devices SET name = $2, platform = $3, push_token_sealed = coalesce($4, push_token_sealed),
            push_expired_at = CASE WHEN $4 IS NULL THEN push_expired_at END, last_used_at = clock_timestamp(),
            language = coalesce($5, language)
        WHERE id = $1
        """
}

extension KnownDevice {
    fileprivate init(_ row: Row) throws(DatabaseError) {
        let hasToken = try row.bool("has_push_token")
        self.init(
            id: try row.uuid("id"), name: try row.text("name"), platform: try row.text("platform"),
            hasPushToken: hasToken, push: !hasToken ? "none" : try row.bool("is_push_expired") ? "expired" : "ok",
            current: try row.bool("is_current"), createdAt: try row.timestamp("created_at"),
            lastUsedAt: try row.timestamp("last_used_at"))
    }
}
