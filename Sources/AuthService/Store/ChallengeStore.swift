import BusProtocol
import Database
import EventLoop

/// A challenge as its row says.
struct Challenge: Sendable {
    let id: Identifier
    let phoneHash: [UInt8]
    let phoneSealed: [UInt8]
    let purpose: String
    let asker: String
    let codeHash: [UInt8]
    let state: String
    let wrongTries: Int64
    let expiresAt: Timestamp
    /// The database's clock after the row was locked.
    let now: Timestamp
}

/// Rows of challenges and of what limits them.
@Loop enum ChallengeStore {
    /// Waits for whoever else asks from the same address or for the same phone, then reads everything that the limits
    /// look at. What was never delivered does not count.
    static func history(
        phone: [UInt8], asker: String, address: [UInt8], in transaction: Transaction
    ) async throws -> SendHistory {
        // Always in this order, so that no two wait for each other.
        for key in [address, phone] { transaction.send(lock, [.bytes(key)]) }
        guard let row = try await transaction.query(history, [.bytes(phone), .text(asker), .bytes(address)]).first
        else {
            throw DatabaseError.aborted
        }
        return SendHistory(
            now: try row.timestamp("now"), lastSend: try row.optionalTimestamp("last_send"),
            sendsInHour: try row.integer("in_hour"), oldestInHour: try row.optionalTimestamp("oldest_in_hour"),
            sendsInDay: try row.integer("in_day"), oldestInDay: try row.optionalTimestamp("oldest_in_day"),
            addressInHour: try row.integer("address_in_hour"), wrongInDay: try row.integer("wrong_in_day"),
            lockedUntil: try row.optionalTimestamp("locked_until"))
    }

    /// Writes a challenge; older ones of the same asker are superseded, and of the others the newest two stay alive.
    static func insert(
        _ id: Identifier, phone: [UInt8], phoneSealed: [UInt8], purpose: String, asker: String, address: [UInt8],
        code: [UInt8], lifetime: Int64, in transaction: Transaction
    ) {
        transaction.send(supersede, [.bytes(phone), .text(asker), .integer(ChallengeLimits.mostAlive - 1)])
        transaction.send(
            insert,
            [
                .uuid(id), .bytes(phone), .bytes(phoneSealed), .text(purpose), .text(asker), .bytes(address),
                .bytes(code),
                .integer(lifetime),
            ])
    }

    /// The challenge, locked until the transaction ends; `nil` where there is none.
    static func locked(_ id: Identifier, in transaction: Transaction) async throws -> Challenge? {
        guard let row = try await transaction.query(load, [.uuid(id)]).first else { return nil }
        // A statement of its own: that of the row read the clock before it waited for the lock.
        guard let clock = try await transaction.query("SELECT clock_timestamp() AS now").first else {
            throw DatabaseError.aborted
        }
        return Challenge(
            id: id, phoneHash: try row.bytes("phone_hash"), phoneSealed: try row.bytes("phone_sealed"),
            purpose: try row.text("purpose"), asker: try row.text("asker"), codeHash: try row.bytes("code_hash"),
            state: try row.text("state"), wrongTries: try row.integer("wrong_tries"),
            expiresAt: try row.timestamp("expires_at"), now: try clock.timestamp("now"))
    }

    static func use(_ id: Identifier, in transaction: Transaction) {
        transaction.send("UPDATE challenges SET state = 'used' WHERE id = $1", [.uuid(id)])
    }

    static func countWrong(_ challenge: Challenge, isDead: Bool, lock: Int64, in transaction: Transaction) {
        transaction.send(wrong, [.uuid(challenge.id), .bool(isDead)])
        guard isDead else { return }
        transaction.send(lockOut, [.bytes(challenge.phoneHash), .text(challenge.asker), .integer(lock)])
    }

    /// Its code never came: it counts for nobody.
    static func giveUp(_ id: Identifier, in database: Database) async throws {
        _ = try await database.write(
            "UPDATE challenges SET state = 'undelivered' WHERE id = $1 AND state = 'open'", [.uuid(id)])
    }

    private static let lock: Statement = "SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 0))"
    private static let history: Statement = """
        SELECT clock_timestamp() AS now, max(created_at) AS last_send,
            count(*) FILTER (WHERE created_at > clock_timestamp() - interval '1 hour') AS in_hour,
            min(created_at) FILTER (WHERE created_at > clock_timestamp() - interval '1 hour') AS oldest_in_hour,
            count(*) AS in_day, min(created_at) AS oldest_in_day, coalesce(sum(wrong_tries), 0)::bigint AS wrong_in_day,
            (SELECT count(*) FROM challenges a WHERE a.address_hash = $3
                AND a.created_at > clock_timestamp() - interval '1 hour' AND a.state <> 'undelivered') AS address_in_hour,
            (SELECT until FROM challenge_locks l WHERE l.phone_hash = $1 AND l.asker = $2) AS locked_until
        FROM challenges
        WHERE phone_hash = $1 AND created_at > clock_timestamp() - interval '1 day' AND state <> 'undelivered'
        """
    private static let supersede: Statement = """
        UPDATE challenges SET state = 'superseded'
        WHERE phone_hash = $1 AND state = 'open' AND (asker = $2 OR id NOT IN (
            SELECT id FROM challenges WHERE phone_hash = $1 AND state = 'open' AND asker <> $2
            ORDER BY created_at DESC LIMIT $3))
        """
    private static let insert: Statement = """
        INSERT INTO challenges (id, phone_hash, phone_sealed, purpose, asker, address_hash, code_hash, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8::bigint * interval '1 s')
        """
    private static let load: Statement = """
        SELECT phone_hash, phone_sealed, purpose, asker, code_hash, state, wrong_tries, expires_at
        FROM challenges WHERE id = $1 FOR UPDATE
        """
    private static let wrong: Statement = """
        UPDATE challenges SET wrong_tries = wrong_tries + 1, state = CASE WHEN $2 THEN 'dead' ELSE state END WHERE id = $1
        """
    private static let lockOut: Statement = """
        INSERT INTO challenge_locks (phone_hash, asker, until)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s')
        ON CONFLICT (phone_hash, asker) DO UPDATE SET until = excluded.until
        """
}
