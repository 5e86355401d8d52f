import BusProtocol
import Database
import EventLoop

/// A refresh token that was presented, with the session that it is of, both locked until the transaction ends.
struct PresentedToken: Sendable {
    let session: Identifier
    let person: Identifier
    let device: Identifier
    /// Of the account.
    let role: String
    /// A linked identity opened the session.
    let hasIdentity: Bool
    let generation: Int64
    let sessionGeneration: Int64
    /// The last generation of which a token was seen, other than a refresh token that is presented again.
    let usedGeneration: Int64
    let replacedAt: Timestamp?
    /// The secret of the session's device was given.
    let isProven: Bool
    /// The session ended, or its account is not active.
    let isRevoked: Bool
    /// Of the session.
    let createdAt: Timestamp
    /// When the session's tokens were last renewed.
    let lastUsedAt: Timestamp
    /// What replaced the token, sealed; `nil` before that and a while after it.
    let answerSealed: [UInt8]?
    /// The database's clock.
    let now: Timestamp
}

/// Rows of sessions, their refresh tokens and the log of those that ended.
@Loop enum SessionStore {
    /// - Parameters:
    ///   - provider: whose identity opens it; `nil` where a code does.
    ///   - access: the `jti` of the session's first access token.
    ///   - refresh: the hash of its first refresh token.
    static func insert(
        _ id: Identifier, person: Identifier, device: Identifier, by provider: IdentityProviderName?,
        access: Identifier, refresh: [UInt8],
        in transaction: Transaction
    ) {
        transaction.send(
            insert, [.uuid(id), .uuid(person), .uuid(device), .uuid(access), .text(provider?.rawValue)])
        insertToken(refresh, session: id, generation: 1, in: transaction)
    }

    private static func insertToken(
        _ hash: [UInt8], session: Identifier, generation: Int64, in transaction: Transaction
    ) {
        transaction.send(
            "INSERT INTO refresh_tokens (hash, session_id, generation) VALUES ($1, $2, $3)",
            [.bytes(hash), .uuid(session), .integer(generation)])
    }

    /// - Parameters:
    ///   - hash: of the refresh token.
    ///   - deviceSecret: the hash of the one that was given.
    static func presented(
        _ hash: [UInt8], deviceSecret: [UInt8]?, in transaction: Transaction
    ) async throws -> PresentedToken? {
        try await transaction.query(load, [.bytes(hash), .bytes(deviceSecret)]).first.map { row in
            PresentedToken(
                session: try row.uuid("session_id"), person: try row.uuid("person_id"),
                device: try row.uuid("device_id"), role: try row.text("role"),
                hasIdentity: try row.bool("has_identity"),
                generation: try row.integer("generation"), sessionGeneration: try row.integer("session_generation"),
                usedGeneration: try row.integer("used_generation"),
                replacedAt: try row.optionalTimestamp("replaced_at"), isProven: try row.bool("is_proven"),
                isRevoked: try row.bool("is_revoked"),
                createdAt: try row.timestamp("created_at"), lastUsedAt: try row.timestamp("last_used_at"),
                answerSealed: try row.optionalBytes("answer_sealed"), now: try row.timestamp("now"))
        }
    }

    /// Puts the next refresh token in the place of the current one, also where an earlier one was presented.
    ///
    /// - Parameters:
    ///   - hash: of the token that was presented.
    ///   - next: the hash of the new one.
    ///   - access: the `jti` of the new access token.
    ///   - answer: what the client is answered, sealed.
    static func rotate(
        _ token: PresentedToken, hash: [UInt8], to next: [UInt8], access: Identifier, answer: [UInt8],
        in transaction: Transaction
    ) {
        transaction.send(replace, [.bytes(hash), .bytes(answer)])
        let generation = token.sessionGeneration + 1
        transaction.send(
            advance, [.uuid(token.session), .integer(generation), .uuid(access), .integer(token.generation)])
        insertToken(next, session: token.session, generation: generation, in: transaction)
    }

    /// Notes that the access token that a session got last is in use.
    static func noteUse(of access: Identifier, session: Identifier, in database: Database) async throws {
        _ = try await database.write(noteUse, [.uuid(session), .uuid(access)])
    }

    /// Why a session ends.
    enum Ending: String {
        case logout
        /// By another session of the person.
        case ended
        /// Its device was removed.
        case device
        /// A refresh token that was replaced came again.
        case reuse
        /// It was not renewed for too long, or is too old.
        case age
        /// The identity that opened it opens the account no longer.
        case unlinked
        /// Its tokens carry a role that the person has no longer.
        case role
        /// With the change of the number that it made, or came after.
        case undone
        /// With its account.
        case deleted
        /// The account was recovered.
        case recovered
        /// The account was suspended.
        case suspended
    }

    /// Ends a session, tells the gateways and writes it down; one that ended before stays as it is.
    static func revoke(
        _ session: Identifier, _ why: Ending, chain: AuditChain, in transaction: Transaction
    ) {
        let act = AuditAct("session_ended", ["session": session.description, "why": why.rawValue])
        transaction.send(revoke, [.uuid(session), .integer(memory)] + act.values(on: chain))
    }

    /// Ends every session of a person but one, tells the gateways and writes each down.
    static func revokeAll(
        of person: Identifier, but session: Identifier?, _ why: Ending, chain: AuditChain, in transaction: Transaction
    ) {
        transaction.send(
            revokeOthers,
            [.uuid(person), .uuid(session), .integer(memory), .text(chain.name), .text(why.rawValue)])
    }

    /// Ends every session on a device of a person, tells the gateways and writes each down.
    static func revokeAll(
        on device: Identifier, of person: Identifier, chain: AuditChain, in transaction: Transaction
    ) {
        transaction.send(
            revokeOnDevice,
            [
                .uuid(person), .uuid(device), .integer(memory), .text(chain.name),
                .text(Ending.device.rawValue),
            ])
    }

    /// Ends every session of a person that an identity of a provider opened, tells the gateways and writes each down.
    static func revokeAll(
        of person: Identifier, openedBy provider: IdentityProviderName, _ why: Ending, chain: AuditChain,
        in transaction: Transaction
    ) {
        transaction.send(
            revokeOpened,
            [.uuid(person), .text(provider.rawValue), .integer(memory), .text(chain.name), .text(why.rawValue)])
    }

    /// Ends the session that did something, and every one that a person came to have since then on another device.
    static func revokeAll(
        of person: Identifier, since at: Timestamp, by session: Identifier?, butOn device: Identifier,
        chain: AuditChain, in transaction: Transaction
    ) {
        transaction.send(
            revokeSince,
            [
                .uuid(person), .timestamp(at), .integer(memory), .text(chain.name), .text(Ending.undone.rawValue),
                .uuid(session), .uuid(device),
            ])
    }

    /// Ends what is over by its age, a thousand sessions at the most, each by itself.
    ///
    /// - Returns: how many, a thousand at the most.
    static func endOverdue(in database: Database, audit: AuditTrail) async throws -> Int {
        let (idle, absolute) = (RefreshPolicy.idle, RefreshPolicy.absolute)
        let rows = try await database.read(
            overdue, [.integer(idle.components.seconds), .integer(absolute.components.seconds)])
        for row in rows {
            let (session, person) = (try row.uuid("id"), try row.uuid("person_id"))
            try await database.transaction { transaction in
                let chain = try await audit.chain(of: person, in: transaction)
                revoke(session, .age, chain: chain, in: transaction)
            }
        }
        return rows.count
    }

    /// The sessions of a person that can be used, the one used last first; a hundred at the most.
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

    /// The device that a session is on; `nil` where there is no such session.
    static func device(of session: Identifier, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query("SELECT device_id FROM sessions WHERE id = $1", [.uuid(session)]).first?
            .uuid("device_id")
    }

    /// Whether a session, ended or not, is a person's.
    static func belongs(_ session: Identifier, to person: Identifier, in transaction: Transaction) async throws -> Bool
    {
        try await !transaction.query(
            "SELECT id FROM sessions WHERE id = $1 AND person_id = $2", [.uuid(session), .uuid(person)]
        ).isEmpty
    }

    /// Whether a sign-in counts as one of this moment; `nil` where somebody may not act, as ``mayAct(_:in:)`` says.
    static func freshness(of actor: Actor, in database: Database) async throws -> Bool? {
        try await database.read(
            mayAct, [.uuid(actor.sessionID), .uuid(actor.userID), .text(actor.role)]
        ).first?.bool("is_fresh")
    }

    /// Whether somebody acts in a session of their own that is alive, with a role that they have.
    static func mayAct(_ actor: Actor, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(
            mayAct, [.uuid(actor.sessionID), .uuid(actor.userID), .text(actor.role)]
        ).isEmpty
    }

    /// False for a session that ended and for one that never was.
    static func isActive(_ session: Identifier, in database: Database) async throws -> Bool {
        try await !database.read(
            "SELECT id FROM sessions WHERE id = $1 AND revoked_at IS NULL", [.uuid(session)]
        ).isEmpty
    }

    /// Seconds that gateways must know of an ended session: as long as its last access token lives, and a minute.
    private static let memory = AccessTokenIssuer.lifetime + 60

    /// The entries of the log behind a cursor that still matter, and once more those of the last fifteen seconds; a page
    /// at the most.
    ///
    /// - Returns: the newest entry's cursor beside them; the one given where there is none.
    static func revocations(
        after cursor: Int64, in database: Database
    ) async throws -> (cursor: Int64, entries: [RevocationsFollowed.Revocation]) {
        var rows = try await database.read(
            select, [.integer(cursor), .integer(Int64(RevocationsFollowed.largestPage))])
        // A full page says that the log goes on; the overlap alone must not say so.
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
        SELECT \(StandingStore.isFresh) AS is_fresh FROM sessions s JOIN accounts a ON a.id = s.person_id
        WHERE s.id = $1 AND s.person_id = $2 AND s.revoked_at IS NULL AND a.status = 'active' AND $3 IN ('user', a.role)
        """)
    private static let insert: Statement = """
        INSERT INTO sessions (id, person_id, device_id, access_id, opened_by, otp_at)
        VALUES ($1, $2, $3, $4, $5, CASE WHEN $5 IS NULL THEN clock_timestamp() END)
        """
    /// Both rows are locked: who waited for the session's alone would read the token's as it was before its twin
    /// replaced it, and take a repeated call for a theft.
    private static let load: Statement = """
        SELECT t.session_id, t.generation, t.replaced_at, t.answer_sealed, s.generation AS session_generation,
            coalesce(d.secret_hash = $2::bytea, false) AS is_proven, s.used_generation, s.person_id, s.device_id,
            s.revoked_at IS NOT NULL OR a.status <> 'active' AS is_revoked, s.created_at, s.last_used_at, a.role,
            s.opened_by IS NOT NULL AS has_identity, clock_timestamp() AS now
        FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id JOIN accounts a ON a.id = s.person_id
            JOIN devices d ON d.id = s.device_id
        WHERE t.hash = $1 FOR UPDATE OF s, t
        """
    private static let replace: Statement = """
        UPDATE refresh_tokens SET replaced_at = clock_timestamp(), answer_sealed = $2
        WHERE hash = $1
        """
    private static let advance: Statement = """
        UPDATE sessions SET generation = $2, access_id = $3, used_generation = greatest(used_generation, $4),
            last_used_at = clock_timestamp() WHERE id = $1
        """
    private static let noteUse: Statement = """
        UPDATE sessions SET used_generation = generation
        WHERE id = $1 AND access_id = $2 AND used_generation < generation
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
    private static let revokeSince = revoking("(id = $6 OR created_at >= $2 AND device_id <> $7)")
    /// Sorted, so that all sessions are locked before the end of the chain is, as everywhere.
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
    private static let overdue: Statement = """
        SELECT id, person_id FROM sessions
        WHERE revoked_at IS NULL AND (last_used_at <= clock_timestamp() - $1::bigint * interval '1 s'
            OR created_at <= clock_timestamp() - $2::bigint * interval '1 s')
        LIMIT 1000
        """
    private static let list: Statement = """
        SELECT s.id, s.device_id, d.name, d.platform, s.created_at, s.last_used_at
        FROM sessions s JOIN devices d ON d.id = s.device_id
        WHERE s.person_id = $1 AND s.revoked_at IS NULL
            AND s.last_used_at > clock_timestamp() - $2::bigint * interval '1 s'
            AND s.created_at > clock_timestamp() - $3::bigint * interval '1 s'
        ORDER BY s.last_used_at DESC LIMIT 100
        """
    /// Ids commit out of order, and a replica that is paused within a transaction may commit ten seconds later, which is when
    /// the database ends it: whatever was written in the last fifteen is read again, behind what is new.
    private static let select: Statement = """
        SELECT id, session_id, forget_at FROM revocations
        WHERE forget_at > clock_timestamp() AND (id > $1 OR created_at > clock_timestamp() - interval '15 s')
        ORDER BY id > $1 DESC, CASE WHEN id > $1 THEN id ELSE -id END LIMIT $2
        """
}
