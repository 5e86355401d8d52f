import BusProtocol
import Database
import EventLoop

/// A presented refresh token and its session, both locked until the transaction ends.
struct PresentedToken: Sendable {
    let session: Identifier
    let person: Identifier
    let device: Identifier
    /// The account's role.
    let role: Role
    /// Whether a linked identity opened the session.
    let hasIdentity: Bool
    /// The publishable key of the session's app; `nil` for the default app.
    let app: String?
    let generation: Int64
    let sessionGeneration: Int64
    /// The last generation that the client is known to have received, since a token of it was used.
    let usedGeneration: Int64
    let replacedAt: Timestamp?
    /// Whether the request has the secret of the session's device.
    let isProven: Bool
    /// Whether the session ended or its account is not active.
    let isRevoked: Bool
    /// When the session was opened.
    let createdAt: Timestamp
    /// When the session's tokens were last renewed.
    let lastUsedAt: Timestamp
    /// The reply that replaced the token, sealed. It is `nil` before that, and after housekeeping deleted it.
    let answerSealed: [UInt8]?
    /// By the database's clock.
    let now: Timestamp
}

/// Rows of sessions, their refresh tokens, and the revocation log.
@Loop enum SessionStore {
    /// - Parameters:
    ///   - app: the publishable key of the app; `nil` for the default app.
    ///   - access: the `jti` of the session's first access token.
    ///   - refresh: the hash of its first refresh token.
    static func insert(
        _ id: Identifier, person: Identifier, device: Identifier, by method: SignInMethod,
        app: String?, access: Identifier, refresh: [UInt8],
        in transaction: Transaction
    ) {
        transaction.send(
            insert,
            [
                .uuid(id), .uuid(person), .uuid(device), .uuid(access), .text(method.provider?.rawValue),
                .bool(method == .phoneCode), .bool(method == .emailCode), .text(app),
            ])
        transaction.send(
            "INSERT INTO refresh_tokens (hash, session_id, generation) VALUES ($1, $2, 1)",
            [.bytes(refresh), .uuid(id)])
    }

    /// Locks a refresh token and its session. ``presented(_:)`` reads the rows.
    ///
    /// - Parameters:
    ///   - hash: the hash of the refresh token.
    ///   - deviceSecret: the hash of the device's secret in the request.
    static func presenting(_ hash: [UInt8], deviceSecret: [UInt8]?) -> Query {
        (load, [.bytes(hash), .bytes(deviceSecret)])
    }

    /// The refresh token; `nil` if auth does not know it.
    static func presented(_ rows: [Row]) throws -> PresentedToken? {
        try rows.first.map { row in
            PresentedToken(
                session: try row.uuid("session_id"), person: try row.uuid("person_id"),
                device: try row.uuid("device_id"), role: Role(rawValue: try row.text("role")),
                hasIdentity: try row.bool("has_identity"), app: try row.optionalText("app"),
                generation: try row.integer("generation"), sessionGeneration: try row.integer("session_generation"),
                usedGeneration: try row.integer("used_generation"),
                replacedAt: try row.optionalTimestamp("replaced_at"), isProven: try row.bool("is_proven"),
                isRevoked: try row.bool("is_revoked"),
                createdAt: try row.timestamp("created_at"), lastUsedAt: try row.timestamp("last_used_at"),
                answerSealed: try row.optionalBytes("answer_sealed"), now: try row.timestamp("now"))
        }
    }

    /// Replaces the session's current refresh token with the next one, even if an earlier one was presented.
    ///
    /// - Parameters:
    ///   - hash: the hash of the presented token.
    ///   - next: the hash of the new one.
    ///   - access: the `jti` of the new access token.
    ///   - answer: the sealed reply to the client.
    static func rotate(
        _ token: PresentedToken, hash: [UInt8], to next: [UInt8], access: Identifier, answer: [UInt8],
        in transaction: Transaction
    ) {
        transaction.send(
            advance,
            [
                .bytes(hash), .bytes(answer), .bytes(next), .uuid(token.session),
                .integer(token.sessionGeneration + 1), .uuid(access), .integer(token.generation),
            ])
    }

    /// Records that a session's newest access token is in use. In a browser, this counts only when the browser has had
    /// ``RefreshPolicy/browserSaving`` to save the refresh token.
    static func noteUse(of access: Identifier, session: Identifier, in database: Database) async throws {
        _ = try await database.write(
            noteUse, [.uuid(session), .uuid(access), .integer(RefreshPolicy.browserSaving.components.seconds)])
    }

    /// Ends a session, notifies the gateways and audits it. A session that ended before stays as it is.
    static func revoke(
        _ session: Identifier, _ why: SessionEnding, chain: AuditChain, in transaction: Transaction
    ) {
        let act = AuditAct("session_ended", ["session": session.description, "why": why.rawValue])
        transaction.send(revoke, [.uuid(session), .integer(memory)] + act.values(on: chain))
    }

    /// Ends all sessions of a person except one, notifies the gateways and audits each.
    static func revokeAll(
        of person: Identifier, but session: Identifier?, _ why: SessionEnding, chain: AuditChain,
        in transaction: Transaction
    ) {
        transaction.send(
            revokeOthers,
            [.uuid(person), .uuid(session), .integer(memory), .text(chain.name), .text(why.rawValue)])
    }

    /// Ends all sessions of a person on a device, notifies the gateways and audits each.
    static func revokeAll(
        on device: Identifier, of person: Identifier, chain: AuditChain, in transaction: Transaction
    ) {
        transaction.send(
            revokeOnDevice,
            [
                .uuid(person), .uuid(device), .integer(memory), .text(chain.name),
                .text(SessionEnding.device.rawValue),
            ])
    }

    /// Ends all sessions of a person that an identity of a provider opened, notifies the gateways and audits each.
    static func revokeAll(
        of person: Identifier, openedBy provider: IdentityProviderName, _ why: SessionEnding, chain: AuditChain,
        in transaction: Transaction
    ) {
        transaction.send(
            revokeOpened,
            [.uuid(person), .text(provider.rawValue), .integer(memory), .text(chain.name), .text(why.rawValue)])
    }

    /// Ends all sessions of a person that a code by email opened, notifies the gateways and audits each.
    static func revokeAllByEmail(of person: Identifier, chain: AuditChain, in transaction: Transaction) {
        transaction.send(
            revokeByEmail,
            [.uuid(person), .text(nil), .integer(memory), .text(chain.name), .text(SessionEnding.unlinked.rawValue)])
    }

    /// Ends the given session, and all sessions of a person that were opened since `at` on other devices than `device`.
    static func revokeAll(
        of person: Identifier, since at: Timestamp, by session: Identifier?, butOn device: Identifier,
        chain: AuditChain, in transaction: Transaction
    ) {
        transaction.send(
            revokeSince,
            [
                .uuid(person), .timestamp(at), .integer(memory), .text(chain.name),
                .text(SessionEnding.undone.rawValue),
                .uuid(session), .uuid(device),
            ])
    }

    /// Sessions that are too old and have not ended, at most 1000.
    static func overdue(in database: Database) async throws -> [(id: Identifier, person: Identifier)] {
        let (idle, absolute) = (RefreshPolicy.idle, RefreshPolicy.absolute)
        let rows = try await database.read(
            overdue, [.integer(idle.components.seconds), .integer(absolute.components.seconds)])
        return try rows.map { (try $0.uuid("id"), try $0.uuid("person_id")) }
    }

    /// The usable sessions of a person, the most recently used first, at most 100.
    static func list(
        of person: Identifier, current: Identifier, in database: Database
    ) async throws -> [KnownSession] {
        let (idle, absolute) = (RefreshPolicy.idle, RefreshPolicy.absolute)
        let rows = try await database.read(
            list, [.uuid(person), .integer(idle.components.seconds), .integer(absolute.components.seconds)])
        return try rows.map { row in
            let id = try row.uuid("id")
            return KnownSession(
                id: id,
                device: .init(
                    id: try row.uuid("device_id"), name: try row.text("name"), platform: try row.text("platform")),
                createdAt: try row.timestamp("created_at"), lastUsedAt: try row.timestamp("last_used_at"),
                current: id == current)
        }
    }

    /// The device of a session; `nil` if there is no such session.
    static func device(of session: Identifier, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query("SELECT device_id FROM sessions WHERE id = $1", [.uuid(session)]).first?
            .uuid("device_id")
    }

    /// Whether a session belongs to a person, even if it ended.
    static func belongs(_ session: Identifier, to person: Identifier, in transaction: Transaction) async throws -> Bool
    {
        try await !transaction.query(
            "SELECT id FROM sessions WHERE id = $1 AND person_id = $2", [.uuid(session), .uuid(person)]
        ).isEmpty
    }

    /// Whether the actor's sign-in is fresh; `nil` if the actor may not act, as for ``mayAct(_:in:)``.
    static func freshness(of actor: Actor, in database: Database) async throws -> Bool? {
        try await database.read(
            mayAct, [.uuid(actor.sessionID), .uuid(actor.userID), .text(actor.role.rawValue)]
        ).first?.bool("is_fresh")
    }

    /// Whether the session is alive and the actor's, the account is active, and the actor has the role.
    static func mayAct(_ actor: Actor, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(
            mayAct, [.uuid(actor.sessionID), .uuid(actor.userID), .text(actor.role.rawValue)]
        ).isEmpty
    }

    /// False if the session ended or never existed.
    static func isActive(_ session: Identifier, in database: Database) async throws -> Bool {
        try await !database.read(
            "SELECT id FROM sessions WHERE id = $1 AND revoked_at IS NULL", [.uuid(session)]
        ).isEmpty
    }

    /// The seconds for which gateways must know an ended session: the life of its last access token and a minute.
    private static let memory = AccessTokenIssuer.lifetime + 60

    /// The entries after a cursor that still matter, and again those of the last 15 seconds. It returns at most one
    /// page.
    ///
    /// - Returns: the entries and the cursor of the newest one; the given cursor if there is none after it.
    static func revocations(
        after cursor: Int64, in database: Database
    ) async throws -> (cursor: Int64, entries: [RevocationsFollowed.Revocation]) {
        var rows = try await database.read(
            select, [.integer(cursor), .integer(Int64(RevocationsFollowed.largestPage))])
        // A full page means that more entries follow. The overlap alone must not fill a page.
        let news = try rows.count { try $0.integer("id") > cursor }
        if news < RevocationsFollowed.largestPage { rows = Array(rows.prefix(RevocationsFollowed.largestPage - 1)) }
        let entries = try rows.map {
            RevocationsFollowed.Revocation(
                sessionID: try $0.uuid("session_id"), forgetAt: try $0.timestamp("forget_at"))
        }
        return (try rows.reduce(cursor) { max($0, try $1.integer("id")) }, entries)
    }

    private static let mayAct = Statement(
        """
        SELECT \(ChangePermissionStore.isFresh) AS is_fresh FROM sessions s JOIN accounts a ON a.id = s.person_id
        WHERE s.id = $1 AND s.person_id = $2 AND s.revoked_at IS NULL AND a.status = 'active' AND $3 IN ('user', a.role)
        """)
    private static let insert: Statement = """
        INSERT INTO sessions (id, person_id, device_id, access_id, opened_by, otp_at, email_at, app)
        VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 THEN clock_timestamp() END, CASE WHEN $7 THEN clock_timestamp() END, $8)
        """
    /// Both rows are locked. With only the session locked, a simultaneous repeat would read the token as it was before
    /// its replacement, and be taken for a theft.
    private static let load: Statement = """
        SELECT t.session_id, t.generation, t.replaced_at, t.answer_sealed, s.generation AS session_generation,
            coalesce(d.secret_hash = $2::bytea, false) AS is_proven, s.used_generation, s.person_id, s.device_id,
            s.revoked_at IS NOT NULL OR a.status <> 'active' AS is_revoked, s.created_at, s.last_used_at, a.role,
            s.opened_by IS NOT NULL AS has_identity, s.app, clock_timestamp() AS now
        FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id JOIN accounts a ON a.id = s.person_id
            JOIN devices d ON d.id = s.device_id
        WHERE t.hash = $1 FOR UPDATE OF s, t
        """
    private static let advance: Statement = """
        WITH replaced AS (
            UPDATE refresh_tokens SET replaced_at = clock_timestamp(), answer_sealed = $2 WHERE hash = $1
        ), next AS (
            INSERT INTO refresh_tokens (hash, session_id, generation) VALUES ($3, $4, $5)
        )
        UPDATE sessions SET generation = $5, access_id = $6, used_generation = greatest(used_generation, $7),
            last_used_at = clock_timestamp(), used_on = (clock_timestamp() AT TIME ZONE 'UTC')::date
        WHERE id = $4
        """
    private static let noteUse: Statement = """
        UPDATE sessions s SET used_generation = generation FROM devices d
        WHERE s.id = $1 AND access_id = $2 AND used_generation < generation AND d.id = s.device_id
            AND (d.platform <> 'web' OR s.last_used_at < clock_timestamp() - $3::bigint * interval '1 s')
        """
    private static let revoke: Statement = """
        WITH ended AS (
            UPDATE sessions SET revoked_at = clock_timestamp() WHERE id = $1 AND revoked_at IS NULL RETURNING id
        ), told AS (
            INSERT INTO revocations (session_id, forget_at)
            SELECT id, clock_timestamp() + $2::bigint * interval '1 s' FROM ended
        )
        SELECT audit_append($3, $4, $5) FROM ended
        """
    private static let revokeOthers = revoking("id IS DISTINCT FROM $2")
    private static let revokeOnDevice = revoking("device_id = $2")
    private static let revokeOpened = revoking("opened_by = $2")
    private static let revokeByEmail = revoking("$2::text IS NULL AND email_at IS NOT NULL")
    private static let revokeSince = revoking("(id = $6 OR created_at >= $2 AND device_id <> $7)")
    /// Sorted, so that all sessions are locked before the end of the audit chain, as everywhere.
    private static func revoking(_ which: String) -> Statement {
        Statement(
            """
            WITH ended AS (
                UPDATE sessions SET revoked_at = clock_timestamp()
                WHERE person_id = $1 AND \(which) AND revoked_at IS NULL RETURNING id
            ), told AS (
                INSERT INTO revocations (session_id, forget_at)
                SELECT id, clock_timestamp() + $3::bigint * interval '1 s' FROM ended
            )
            SELECT audit_append($4, 'session_ended', '{"session":"' || id || '","why":"' || $5 || '"}')
            FROM (SELECT id FROM ended ORDER BY id) AS all_ended
            """)
    }
    /// PostgreSQL cannot search an index by `clock_timestamp()`, because that may differ from row to row. With `OR` in
    /// place of `UNION`, its plan for all values would read a whole index.
    nonisolated static let overdue = Statement(
        """
        (SELECT id, person_id FROM sessions
            WHERE revoked_at IS NULL AND created_at <= now() - $2::bigint * interval '1 s'
            ORDER BY created_at LIMIT \(HousekeepingStore.batch))
        UNION
        (SELECT id, person_id FROM sessions
            WHERE revoked_at IS NULL AND used_on <= ((now() - $1::bigint * interval '1 s') AT TIME ZONE 'UTC')::date
                AND last_used_at <= now() - $1::bigint * interval '1 s'
            ORDER BY used_on LIMIT \(HousekeepingStore.batch))
        LIMIT \(HousekeepingStore.batch)
        """)
    private static let list: Statement = """
        SELECT s.id, s.device_id, d.name, d.platform, s.created_at, s.last_used_at
        FROM sessions s JOIN devices d ON d.id = s.device_id
        WHERE s.person_id = $1 AND s.revoked_at IS NULL
            AND s.last_used_at > clock_timestamp() - $2::bigint * interval '1 s'
            AND s.created_at > clock_timestamp() - $3::bigint * interval '1 s'
        ORDER BY s.last_used_at DESC LIMIT 100
        """
    /// Ids are not committed in order. A replica that pauses in a transaction may commit up to ten seconds later, until
    /// the database ends the transaction. So entries of the last 15 seconds are read again, after the new ones.
    private static let select: Statement = """
        SELECT id, session_id, forget_at FROM revocations
        WHERE forget_at > clock_timestamp() AND (id > $1 OR created_at > now() - interval '15 s')
        ORDER BY id > $1 DESC, CASE WHEN id > $1 THEN id ELSE -id END LIMIT $2
        """
}
