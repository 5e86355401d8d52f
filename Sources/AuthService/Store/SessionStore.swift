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
    let generation: Int64
    let sessionGeneration: Int64
    let replacedAt: Timestamp?
    /// The session ended, or its account is not active.
    let isRevoked: Bool
    /// What replaced the token, sealed; `nil` before that and a while after it.
    let answerSealed: [UInt8]?
    /// The database's clock.
    let now: Timestamp
}

/// Rows of sessions, their refresh tokens and the log of those that ended.
@Loop enum SessionStore {
    /// - Parameter refresh: the hash of the session's first refresh token.
    static func insert(
        _ id: Identifier, person: Identifier, device: Identifier, refresh: [UInt8], in transaction: Transaction
    ) {
        transaction.send(
            "INSERT INTO sessions (id, person_id, device_id) VALUES ($1, $2, $3)",
            [.uuid(id), .uuid(person), .uuid(device)])
        insertToken(refresh, session: id, generation: 1, in: transaction)
    }

    private static func insertToken(
        _ hash: [UInt8], session: Identifier, generation: Int64, in transaction: Transaction
    ) {
        transaction.send(
            "INSERT INTO refresh_tokens (hash, session_id, generation) VALUES ($1, $2, $3)",
            [.bytes(hash), .uuid(session), .integer(generation)])
    }

    static func presented(_ hash: [UInt8], in transaction: Transaction) async throws -> PresentedToken? {
        try await transaction.query(load, [.bytes(hash)]).first.map { row in
            PresentedToken(
                session: try row.uuid("session_id"), person: try row.uuid("person_id"),
                device: try row.uuid("device_id"), role: try row.text("role"),
                generation: try row.integer("generation"), sessionGeneration: try row.integer("session_generation"),
                replacedAt: try row.optionalTimestamp("replaced_at"), isRevoked: try row.bool("is_revoked"),
                answerSealed: try row.optionalBytes("answer_sealed"), now: try row.timestamp("now"))
        }
    }

    /// Puts the next refresh token in the place of the current one.
    ///
    /// - Parameters:
    ///   - hash: of the token that was presented.
    ///   - next: the hash of the new one.
    ///   - answer: what the client is answered, sealed.
    static func rotate(
        _ token: PresentedToken, hash: [UInt8], to next: [UInt8], answer: [UInt8], in transaction: Transaction
    ) {
        transaction.send(replace, [.bytes(hash), .bytes(answer)])
        transaction.send(advance, [.uuid(token.session), .integer(token.generation + 1)])
        insertToken(next, session: token.session, generation: token.generation + 1, in: transaction)
    }

    /// Ends a session and tells the gateways.
    static func revoke(_ session: Identifier, in transaction: Transaction) {
        transaction.send(
            "UPDATE sessions SET revoked_at = clock_timestamp() WHERE id = $1 AND revoked_at IS NULL", [.uuid(session)])
        transaction.send(log, [.uuid(session), .integer(AccessTokenIssuer.lifetime + 60)])
    }

    /// False for a session that ended and for one that never was.
    static func isActive(_ session: Identifier, in database: Database) async throws -> Bool {
        try await !database.read(
            "SELECT id FROM sessions WHERE id = $1 AND revoked_at IS NULL", [.uuid(session)]
        ).isEmpty
    }

    /// The entries of the log behind a cursor that still matter, and once more those of the last five seconds; a page at
    /// the most.
    ///
    /// - Returns: the newest entry's cursor beside them; the one given where there is none.
    static func revocations(
        after cursor: Int64, in database: Database
    ) async throws -> (cursor: Int64, entries: [RevocationsFollowed.Revocation]) {
        let rows = try await database.read(
            select, [.integer(cursor), .integer(Int64(RevocationsFollowed.largestPage))])
        let entries = try rows.map {
            RevocationsFollowed.Revocation(
                sessionID: try $0.uuid("session_id"), forgetAt: try $0.timestamp("forget_at"))
        }
        return (try rows.reduce(cursor) { max($0, try $1.integer("id")) }, entries)
    }

    /// Both rows are locked: who waited for the session's alone would read the token's as it was before its twin
    /// replaced it, and take a repeated call for a theft.
    private static let load: Statement = """
        SELECT t.session_id, t.generation, t.replaced_at, t.answer_sealed, s.generation AS session_generation, s.person_id,
            s.device_id, s.revoked_at IS NOT NULL OR a.status <> 'active' AS is_revoked, a.role, clock_timestamp() AS now
        FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id JOIN accounts a ON a.id = s.person_id
        WHERE t.hash = $1 FOR UPDATE OF s, t
        """
    private static let replace: Statement = """
        UPDATE refresh_tokens SET replaced_at = clock_timestamp(), answer_sealed = $2 WHERE hash = $1
        """
    private static let advance: Statement = """
        UPDATE sessions SET generation = $2, last_used_at = clock_timestamp() WHERE id = $1
        """
    private static let log: Statement = """
        INSERT INTO revocations (session_id, forget_at) VALUES ($1, clock_timestamp() + $2::bigint * interval '1 s')
        """
    /// Ids commit out of order: whatever was written in the last five seconds is read again, behind what is new.
    private static let select: Statement = """
        SELECT id, session_id, forget_at FROM revocations
        WHERE forget_at > clock_timestamp() AND (id > $1 OR created_at > clock_timestamp() - interval '5 s')
        ORDER BY id > $1 DESC, id LIMIT $2
        """
}
