import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// A challenge as its row says.
struct Challenge: Sendable {
    let id: Identifier
    /// The number's lasting one.
    let phoneHash: [UInt8]
    let phoneSealed: [UInt8]
    /// `nil` where only a newer release knows it.
    let purpose: ChallengePurpose?
    let principal: ChallengePrincipal
    let codeHash: [UInt8]
    /// `nil` where only a newer release knows it.
    let state: ChallengeState?
    let wrongTries: Int64
    /// Wrong codes for the phone within a day, as far as they count for whoever asked for this challenge.
    let wrongInDay: Int64
    /// When the oldest of those no longer counts.
    let wrongFreeAt: Timestamp?
    let expiresAt: Timestamp
    /// The database's clock after the row was locked.
    let now: Timestamp

    /// No device of the account asked for it.
    var isOfStranger: Bool { principal.isStranger }
}

extension Secrets {
    func hashes(of challenge: Challenge) throws(SealError) -> PhoneHashes {
        try hashes(ofSealed: challenge.phoneSealed, for: challenge.id)
    }
}

/// Rows of challenges and of what limits them.
@Loop enum ChallengeStore {
    /// What a device shows to be known as one of the account's own.
    struct Proof: Sendable {
        let device: Identifier
        let secretHash: [UInt8]
    }

    /// Waits for whoever else asks from the same address or site or for the same phone, then finds out who asks and reads
    /// everything that the limits look at, all in one round trip. What was never delivered does not count.
    ///
    /// - Parameters:
    ///   - limit: what stands in the place of the phone's hash since an account of it was deleted.
    ///   - country: the phone's, ISO 3166-1 alpha-2.
    /// - Returns: who asks, as the challenge's row says it, and what is known.
    static func history(
        phone: PhoneHashes, limit: [UInt8], prefix: [UInt8], country: String, origin: ClientOrigin, proof: Proof?,
        in transaction: Transaction
    ) async throws -> (principal: ChallengePrincipal, SendHistory) {
        // Always in this order, so that no two wait for each other.
        for key in [origin.site, origin.address, phone.lasting].compactMap({ $0 }) {
            transaction.send(lock, [.bytes(key)])
        }
        let values: [SQLValue] = [
            .bytes(phone.lasting), .bytes(origin.address),
            .text(ChallengePrincipal.stranger(at: origin.address).rawValue), .uuid(proof?.device),
            .bytes(proof?.secretHash), .bytes(prefix), .bytes(limit), .bytes(origin.site), .text(country),
            phone.sought,
        ]
        guard let row = try await transaction.query(history, values).first else { throw DatabaseError.aborted }
        let history = SendHistory(
            now: try row.timestamp("now"), isKnownDevice: try row.bool("is_device"),
            lastSend: try row.optionalTimestamp("last_send"),
            sendsInHour: try row.integer("in_hour"), oldestInHour: try row.optionalTimestamp("oldest_in_hour"),
            sendsInDay: try row.integer("in_day"), oldestInDay: try row.optionalTimestamp("oldest_in_day"),
            devicesInHour: try row.integer("devices_in_hour"),
            oldestOfDevicesInHour: try row.optionalTimestamp("oldest_of_devices_in_hour"),
            devicesInDay: try row.integer("devices_in_day"),
            oldestOfDevicesInDay: try row.optionalTimestamp("oldest_of_devices_in_day"),
            addressInHour: try row.integer("address_in_hour"), siteInHour: try row.integer("site_in_hour"),
            wrongInDay: try row.integer("wrong_in_day"), wrongFreeAt: try row.optionalTimestamp("wrong_free_at"),
            lockedUntil: try row.optionalTimestamp("locked_until"),
            closedUntil: try row.optionalTimestamp("closed_until"), country: country,
            smsInHour: try row.integer("sms_in_hour"), smsToCountry: try row.integer("sms_to_country"),
            hourEnds: try row.timestamp("hour_ends"))
        return (ChallengePrincipal(rawValue: try row.text("asker")), history)
    }

    /// Writes a challenge; older ones of the same principal are superseded, and of the others two stay alive. A stranger's
    /// never takes the place of a device's: those go first, and there are two of them at the most.
    ///
    /// - Parameter prefix: `nil` where the send counts for no prefix.
    static func insert(
        _ id: Identifier, phone: [UInt8], phoneSealed: [UInt8], purpose: ChallengePurpose,
        principal: ChallengePrincipal,
        origin: ClientOrigin,
        prefix: [UInt8]?, code: [UInt8], lifetime: Int64, in transaction: Transaction
    ) {
        transaction.send(supersede, [.bytes(phone), .text(principal.rawValue), .integer(ChallengeLimits.mostAlive)])
        transaction.send(
            insert,
            [
                .uuid(id), .bytes(phone), .bytes(phoneSealed), .text(purpose.rawValue), .text(principal.rawValue),
                .bytes(origin.address), .bytes(prefix), .bytes(code), .integer(lifetime), .bytes(origin.site),
            ])
    }

    /// Makes a challenge void that somebody gives up for one of another number, where they asked for it: at that address, or
    /// as that device.
    static func replace(_ id: Identifier, address: [UInt8], proof: Proof?, in transaction: Transaction) {
        transaction.send(
            replace,
            [
                .uuid(id), .text(ChallengePrincipal.stranger(at: address).rawValue), .uuid(proof?.device),
                .bytes(proof?.secretHash),
            ])
    }

    /// Closes a prefix for an hour where so many numbers of it, this send's among them, brought under a tenth verified.
    static func closePrefix(_ prefix: [UInt8], from numbers: Int64, in transaction: Transaction) {
        transaction.send(closePrefix, [.bytes(prefix), .integer(numbers)])
    }

    /// The challenge, with its phone locked until the transaction ends, so that tries at the phone's other challenges are
    /// counted one after the other too; `nil` where there is none.
    static func locked(_ id: Identifier, in transaction: Transaction) async throws -> Challenge? {
        // A statement of its own: what reads the row and the clock must begin behind the wait.
        transaction.send(lockPhone, [.uuid(id)])
        guard let row = try await transaction.query(load, [.uuid(id)]).first else { return nil }
        return Challenge(
            id: id, phoneHash: try row.bytes("phone_hash"), phoneSealed: try row.bytes("phone_sealed"),
            purpose: ChallengePurpose(rawValue: try row.text("purpose")),
            principal: ChallengePrincipal(rawValue: try row.text("asker")), codeHash: try row.bytes("code_hash"),
            state: ChallengeState(rawValue: try row.text("state")), wrongTries: try row.integer("wrong_tries"),
            wrongInDay: try row.integer("wrong_in_day"), wrongFreeAt: try row.optionalTimestamp("wrong_free_at"),
            expiresAt: try row.timestamp("expires_at"), now: try row.timestamp("now"))
    }

    /// The number that a challenge is for, sealed for it; `nil` where there is no such challenge, or its number was erased.
    static func number(of id: Identifier, in transaction: Transaction) async throws -> [UInt8]? {
        try await transaction.query(
            "SELECT phone_sealed FROM challenges WHERE id = $1 AND phone_sealed <> ''", [.uuid(id)]
        ).first?.bytes("phone_sealed")
    }

    static func use(_ id: Identifier, in transaction: Transaction) {
        transaction.send("UPDATE challenges SET state = 'used' WHERE id = $1", [.uuid(id)])
    }

    static func countWrong(_ challenge: Challenge, isDead: Bool, lock: Int64, in transaction: Transaction) {
        transaction.send(wrong, [.uuid(challenge.id), .bool(isDead)])
        guard isDead else { return }
        transaction.send(lockOut, [.bytes(challenge.phoneHash), .text(challenge.principal.rawValue), .integer(lock)])
    }

    /// Its code never came: it does not count for its phone, but for the address that asked. Otherwise numbers that cannot
    /// be reached could be tried without end.
    static func giveUp(_ id: Identifier, in database: Database) async throws {
        _ = try await database.write(
            "UPDATE challenges SET state = 'undelivered' WHERE id = $1 AND state = 'open'", [.uuid(id)])
    }

    private static let lock = Statement("SELECT \(AdvisoryLock.codes.wait(for: "encode($1, 'hex')"))")
    /// A device is known by its secret's hash, which is worth nothing to who could time the comparison. A wrong try counts
    /// for a day after the last moment at which it can have been made, and a code lives for 15 minutes at the most.
    private static let history = Statement(
        """
        WITH me AS (
            SELECT d.id IS NOT NULL AS is_device, coalesce('device ' || d.id, $3) AS asker
            FROM (VALUES (1)) AS one
            LEFT JOIN (devices d JOIN phones p ON p.person_id = d.person_id AND \(PhoneHashes.found("p", by: "$10")))
                ON d.id = $4 AND d.secret_hash = $5
        ), counted AS (
            SELECT c.created_at, c.wrong_tries,
                c.state <> 'undelivered' AND c.created_at > clock_timestamp() - interval '1 day' AS is_of_day,
                c.state <> 'undelivered' AND c.created_at > clock_timestamp() - interval '1 hour' AS is_of_hour
            FROM challenges c CROSS JOIN me
            WHERE c.phone_hash IN ($1, $7) AND c.created_at > clock_timestamp() - interval '1 day 15 minutes'
                AND CASE WHEN me.is_device THEN c.asker = me.asker ELSE starts_with(c.asker, 'address ') END
        ), sums AS (
            SELECT max(created_at) FILTER (WHERE is_of_day) AS last_send,
                count(*) FILTER (WHERE is_of_hour) AS in_hour, min(created_at) FILTER (WHERE is_of_hour) AS oldest_in_hour,
                count(*) FILTER (WHERE is_of_day) AS in_day, min(created_at) FILTER (WHERE is_of_day) AS oldest_in_day,
                coalesce(sum(wrong_tries), 0)::bigint AS wrong_in_day,
                min(created_at) FILTER (WHERE wrong_tries > 0) + interval '1 day 15 minutes' AS wrong_free_at
            FROM counted
        ), devices AS (
            SELECT count(*) FILTER (WHERE is_of_hour) AS devices_in_hour,
                min(created_at) FILTER (WHERE is_of_hour) AS oldest_of_devices_in_hour,
                count(*) AS devices_in_day, min(created_at) AS oldest_of_devices_in_day
            FROM (
                SELECT c.created_at, c.created_at > clock_timestamp() - interval '1 hour' AS is_of_hour
                FROM challenges c CROSS JOIN me
                WHERE me.is_device AND c.phone_hash IN ($1, $7) AND starts_with(c.asker, 'device ')
                    AND c.state <> 'undelivered' AND c.created_at > clock_timestamp() - interval '1 day'
            ) AS sends
        ), budget AS (
            SELECT hour,
                (SELECT coalesce(sum(b.used), 0)::bigint FROM sms_budget b WHERE b.scope = '' AND b.hour = c.hour)
                    AS sms_in_hour,
                (SELECT coalesce(sum(b.used), 0)::bigint FROM sms_budget b WHERE b.scope = $9 AND b.hour = c.hour)
                    AS sms_to_country
            FROM (SELECT date_trunc('hour', clock_timestamp(), 'UTC') AS hour) AS c
        )
        SELECT devices.*, me.asker, me.is_device, clock_timestamp() AS now, sums.last_send, sums.in_hour, sums.oldest_in_hour,
            sums.in_day, sums.oldest_in_day, sums.wrong_in_day, sums.wrong_free_at,
            (SELECT count(*) FROM challenges a WHERE a.address_hash = $2 AND starts_with(a.asker, 'address ')
                AND a.created_at > clock_timestamp() - interval '1 hour') AS address_in_hour,
            (SELECT count(*) FROM challenges a WHERE a.site_hash = $8 AND starts_with(a.asker, 'address ')
                AND a.created_at > clock_timestamp() - interval '1 hour') AS site_in_hour,
            (SELECT max(until) FROM challenge_locks l WHERE l.phone_hash IN ($1, $7) AND l.asker = me.asker) AS locked_until,
            (SELECT until FROM prefix_breakers b WHERE b.prefix_hash = $6) AS closed_until,
            budget.sms_in_hour, budget.sms_to_country, budget.hour + interval '1 hour' AS hour_ends
        FROM me CROSS JOIN sums CROSS JOIN devices CROSS JOIN budget
        """)
    private static let supersede: Statement = """
        UPDATE challenges SET state = 'superseded'
        WHERE phone_hash = $1 AND state = 'open' AND (asker = $2 OR id NOT IN (
            SELECT id FROM (
                SELECT id, created_at, starts_with(asker, 'device ') AS is_device,
                    row_number() OVER (PARTITION BY starts_with(asker, 'device ') ORDER BY created_at DESC) AS place
                FROM challenges
                WHERE phone_hash = $1 AND state = 'open' AND asker <> $2 AND expires_at > clock_timestamp()
            ) AS others
            WHERE NOT (is_device AND starts_with($2, 'device ') AND place > $3 - 2)
            ORDER BY is_device DESC, created_at DESC LIMIT $3 - 1))
        """
    private static let replace: Statement = """
        UPDATE challenges SET state = 'superseded'
        WHERE id = $1 AND state = 'open' AND asker IN (
            $2, (SELECT 'device ' || d.id FROM devices d WHERE d.id = $3 AND d.secret_hash = $4))
        """
    private static let insert: Statement = """
        INSERT INTO challenges
            (id, phone_hash, phone_sealed, purpose, asker, address_hash, prefix_hash, code_hash, expires_at, site_hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9::bigint * interval '1 s', $10)
        """
    private static let closePrefix: Statement = """
        INSERT INTO prefix_breakers (prefix_hash, until)
        SELECT $1, clock_timestamp() + interval '1 hour'
        FROM (
            SELECT count(DISTINCT phone_hash) AS asked,
                count(DISTINCT phone_hash) FILTER (WHERE state = 'used') AS verified
            FROM challenges
            WHERE prefix_hash = $1 AND created_at > clock_timestamp() - interval '1 hour' AND state <> 'undelivered'
        ) AS numbers
        WHERE asked >= $2 AND verified * 10 < asked
        ON CONFLICT (prefix_hash) DO UPDATE SET until = excluded.until
        """
    private static let lockPhone = Statement(
        "SELECT \(AdvisoryLock.codes.wait(for: "encode(phone_hash, 'hex')")) FROM challenges WHERE id = $1")
    /// Strangers' tries count together, and a device's for it alone.
    private static let load: Statement = """
        SELECT c.phone_hash, c.phone_sealed, c.purpose, c.asker, c.code_hash, c.state, c.wrong_tries, c.expires_at,
            clock_timestamp() AS now, w.wrong_in_day, w.wrong_free_at
        FROM challenges c CROSS JOIN LATERAL (
            SELECT coalesce(sum(o.wrong_tries), 0)::bigint AS wrong_in_day,
                min(o.created_at) FILTER (WHERE o.wrong_tries > 0) + interval '1 day 15 minutes' AS wrong_free_at
            FROM challenges o
            WHERE o.phone_hash = c.phone_hash AND o.created_at > clock_timestamp() - interval '1 day 15 minutes'
                AND CASE WHEN starts_with(c.asker, 'device ') THEN o.asker = c.asker
                    ELSE starts_with(o.asker, 'address ') END
        ) AS w
        WHERE c.id = $1 FOR UPDATE OF c
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
