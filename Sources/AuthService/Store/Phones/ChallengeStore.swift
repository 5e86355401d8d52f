import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// The row of a challenge.
struct Challenge: Sendable {
    let id: Identifier
    /// The lasting hash of the number or the address.
    let contactHash: [UInt8]
    let contactSealed: [UInt8]
    /// `nil` if only a newer release knows the purpose.
    let purpose: ChallengePurpose?
    let principal: ChallengePrincipal
    let codeHash: [UInt8]
    /// `nil` if only a newer release knows the state.
    let state: ChallengeState?
    let wrongTries: Int64
    /// Wrong codes for the phone within a day. For a device, they are those of the device; for a stranger, those of all
    /// strangers.
    let wrongInDay: Int64
    /// When the oldest of those wrong codes no longer counts.
    let wrongFreeAt: Timestamp?
    let expiresAt: Timestamp
    /// The hash of the link token that the challenge is bound to; `nil` if there is none.
    let linkHash: [UInt8]?
    /// By the database's clock, after the row was locked.
    let now: Timestamp

    /// Whether a stranger requested it, not a device of the account.
    var isOfStranger: Bool { principal.isStranger }
}

extension Challenge {
    /// The kind of contact to which the code was sent.
    var contact: Contact.Kind { purpose?.contact ?? .phone }
}

extension Secrets {
    func hashes(of challenge: Challenge) throws(SealError) -> ContactHashes {
        keys(of: challenge.contact).hashes(of: try contact(of: challenge))
    }

    /// The number or the address of a challenge.
    func contact(of challenge: Challenge) throws(SealError) -> [UInt8] {
        try keys(of: challenge.contact).open(challenge.contactSealed, for: challenge.id)
    }
}

/// Rows of challenges and of their limits. The columns `phone_hash` and `phone_sealed` have the number, or the email
/// address that the purpose is about.
@Loop enum ChallengeStore {
    /// The proof that a device belongs to the account.
    struct Proof: Sendable {
        let device: Identifier
        let secretHash: [UInt8]
    }

    /// Locks the address, the site and the phone, so that simultaneous requests wait. Then it determines who asks and
    /// reads what the limits need, all in one round trip.
    ///
    /// An undelivered code counts for its address and site, but not for its phone.
    ///
    /// - Parameters:
    ///   - limit: the hash that replaces the phone's hash after its account was deleted.
    ///   - mailbox: the hash of the address's mailbox; `nil` for a phone.
    ///   - prefix: the hash of the number's prefix; `nil` for an address.
    ///   - country: the phone's country, ISO 3166-1 alpha-2; `nil` for an address.
    /// - Returns: who asks, as the row of the challenge will name it, and the history.
    static func history(
        contact: ContactHashes, limit: [UInt8], mailbox: [UInt8]?, prefix: [UInt8]?, country: String?,
        origin: ClientOrigin, proof: Proof?, in transaction: Transaction
    ) async throws -> (principal: ChallengePrincipal, SendHistory) {
        // Always in this order, to avoid deadlocks.
        let keys = [origin.site, origin.address, mailbox, contact.lasting].compactMap { $0 }
        transaction.send(lock, [.array(keys.map { .bytes($0) })])
        let values: [SQLValue] = [
            .bytes(contact.lasting), .bytes(origin.address),
            .text(ChallengePrincipal.stranger(at: origin.address).rawValue), .uuid(proof?.device),
            .bytes(proof?.secretHash), .bytes(prefix), .bytes(limit), .bytes(origin.site), .text(country),
            contact.sought, .text(country == nil ? SMSBudget.emails : SMSBudget.all),
            .bytes(mailbox),
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
            sentInHour: try row.integer("sent_in_hour"), sentToCountry: try row.integer("sent_to_country"),
            hourEnds: try row.timestamp("hour_ends"))
        return (ChallengePrincipal(rawValue: try row.text("asker")), history)
    }

    /// Writes a challenge. It supersedes older ones of the same principal, and all but two of the others.
    ///
    /// Devices' challenges are kept first, so that a stranger never supersedes one of a device. At most two challenges
    /// of devices are alive at once.
    ///
    /// - Parameters:
    ///   - prefix: `nil` if the code counts for no prefix.
    ///   - mailbox: `nil` for a phone.
    static func insert(
        _ id: Identifier, contact: [UInt8], contactSealed: [UInt8], purpose: ChallengePurpose,
        principal: ChallengePrincipal,
        origin: ClientOrigin,
        prefix: [UInt8]?, mailbox: [UInt8]?, code: [UInt8], lifetime: Int64, in transaction: Transaction
    ) {
        transaction.send(supersede, [.bytes(contact), .text(principal.rawValue), .integer(ChallengeLimits.mostAlive)])
        transaction.send(
            insert,
            [
                .uuid(id), .bytes(contact), .bytes(contactSealed), .text(purpose.rawValue), .text(principal.rawValue),
                .bytes(origin.address), .bytes(prefix), .bytes(code), .integer(lifetime), .bytes(origin.site),
                .bytes(mailbox),
            ])
    }

    /// Supersedes a challenge that the caller gives up for another number. The caller must have requested it, from this
    /// address or with this device.
    static func replace(_ id: Identifier, address: [UInt8], proof: Proof?, in transaction: Transaction) {
        transaction.send(
            replace,
            [
                .uuid(id), .text(ChallengePrincipal.stranger(at: address).rawValue), .uuid(proof?.device),
                .bytes(proof?.secretHash),
            ])
    }

    /// Reads a challenge and locks its phone until the transaction ends; `nil` if there is none. So tries at all
    /// challenges of the phone are counted one after the other.
    static func locked(_ id: Identifier, in transaction: Transaction) async throws -> Challenge? {
        // A separate statement: the next one must read the row and the clock after the wait.
        transaction.send(lockPhone, [.uuid(id)])
        guard let row = try await transaction.query(load, [.uuid(id)]).first else { return nil }
        return Challenge(
            id: id, contactHash: try row.bytes("phone_hash"), contactSealed: try row.bytes("phone_sealed"),
            purpose: ChallengePurpose(rawValue: try row.text("purpose")),
            principal: ChallengePrincipal(rawValue: try row.text("asker")), codeHash: try row.bytes("code_hash"),
            state: ChallengeState(rawValue: try row.text("state")), wrongTries: try row.integer("wrong_tries"),
            wrongInDay: try row.integer("wrong_in_day"), wrongFreeAt: try row.optionalTimestamp("wrong_free_at"),
            expiresAt: try row.timestamp("expires_at"), linkHash: try row.optionalBytes("link_hash"),
            now: try row.timestamp("now"))
    }

    /// The sealed contact of a challenge; `nil` if there is no such challenge for the purpose or its contact was erased.
    static func contact(
        of id: Identifier, for purpose: ChallengePurpose, in transaction: Transaction
    ) async throws -> [UInt8]? {
        try await transaction.query(
            "SELECT phone_sealed FROM challenges WHERE id = $1 AND phone_sealed <> '' AND purpose = $2",
            [.uuid(id), .text(purpose.rawValue)]
        ).first?.bytes("phone_sealed")
    }

    static func use(_ id: Identifier, in transaction: Transaction) {
        transaction.send(used, [.uuid(id)])
    }

    static func countWrong(_ id: Identifier, isDead: Bool, in transaction: Transaction) {
        transaction.send(wrong, [.uuid(id), .bool(isDead)])
    }

    /// Refuses the principal of a challenge further codes for the challenge's number or address, for a while.
    static func lockOut(_ challenge: Challenge, for seconds: Int64, in transaction: Transaction) {
        let values: [SQLValue] = [
            .bytes(challenge.contactHash), .text(challenge.principal.rawValue), .integer(seconds),
        ]
        transaction.send(lockOut, values)
    }

    /// Marks a challenge as undelivered. It no longer counts for its phone, but still for the address that asked.
    /// Otherwise an address could try unreachable numbers without limit.
    static func giveUp(_ id: Identifier, in database: Database) async throws {
        _ = try await database.write(
            "UPDATE challenges SET state = 'undelivered' WHERE id = $1 AND state = 'open'", [.uuid(id)])
    }

    private static let lock = Statement(
        "SELECT \(AdvisoryLock.codes.wait(for: "encode(key, 'hex')")) FROM unnest($1::bytea[]) AS key")
    /// What is counted is sought by `now()`, because an index cannot serve `clock_timestamp()`.
    ///
    /// The query compares the hash of the device's secret, so its timing reveals nothing useful. A code lives for 15
    /// minutes at most, and a wrong try counts for a day after that.
    private static let history = Statement(
        """
        WITH me AS (
            SELECT d.id IS NOT NULL AS is_device, coalesce('device ' || d.id, $3) AS asker
            FROM (VALUES (1)) AS one
            LEFT JOIN (devices d JOIN (
                    SELECT hash, other_hash, person_id FROM phones
                    UNION ALL SELECT hash, other_hash, person_id FROM emails
                ) p ON p.person_id = d.person_id AND \(ContactHashes.found("p", by: "$10")))
                ON d.id = $4 AND d.secret_hash = $5
        ), counted AS (
            SELECT c.created_at, CASE WHEN c.phone_hash IN ($1, $7) THEN c.wrong_tries ELSE 0 END AS wrong_tries,
                c.state <> 'undelivered' AND c.created_at > clock_timestamp() - interval '1 day' AS is_of_day,
                c.state <> 'undelivered' AND c.created_at > clock_timestamp() - interval '1 hour' AS is_of_hour
            FROM challenges c CROSS JOIN me
            WHERE (c.phone_hash IN ($1, $7) OR c.mailbox_hash = $12)
                AND c.created_at > now() - interval '1 day 15 minutes'
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
                    AND c.state <> 'undelivered' AND c.created_at > now() - interval '1 day'
            ) AS sends
        ), budget AS (
            SELECT hour,
                (SELECT coalesce(sum(b.used), 0)::bigint FROM sms_budget b WHERE b.scope = $11 AND b.hour = c.hour)
                    AS sent_in_hour,
                (SELECT coalesce(sum(b.used), 0)::bigint FROM sms_budget b WHERE b.scope = $9 AND b.hour = c.hour)
                    AS sent_to_country
            FROM (SELECT date_trunc('hour', clock_timestamp(), 'UTC') AS hour) AS c
        )
        SELECT devices.*, me.asker, me.is_device, clock_timestamp() AS now, sums.last_send, sums.in_hour, sums.oldest_in_hour,
            sums.in_day, sums.oldest_in_day, sums.wrong_in_day, sums.wrong_free_at,
            (SELECT count(*) FROM challenges a WHERE a.address_hash = $2 AND starts_with(a.asker, 'address ')
                AND a.created_at > now() - interval '1 hour') AS address_in_hour,
            (SELECT count(*) FROM challenges a WHERE a.site_hash = $8 AND starts_with(a.asker, 'address ')
                AND a.created_at > now() - interval '1 hour') AS site_in_hour,
            (SELECT max(until) FROM challenge_locks l WHERE l.phone_hash IN ($1, $7) AND l.asker = me.asker) AS locked_until,
            (SELECT until FROM prefix_breakers b WHERE b.prefix_hash = $6) AS closed_until,
            budget.sent_in_hour, budget.sent_to_country, budget.hour + interval '1 hour' AS hour_ends
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
            (id, phone_hash, phone_sealed, purpose, asker, address_hash, prefix_hash, code_hash, expires_at, site_hash,
            mailbox_hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + $9::bigint * interval '1 s', $10, $11)
        """
    private static let lockPhone = Statement(
        "SELECT \(AdvisoryLock.codes.wait(for: "encode(phone_hash, 'hex')")) FROM challenges WHERE id = $1")
    /// The tries of all strangers are counted together, and those of each device separately.
    private static let load: Statement = """
        SELECT c.phone_hash, c.phone_sealed, c.purpose, c.asker, c.code_hash, c.state, c.wrong_tries, c.expires_at,
            clock_timestamp() AS now, w.wrong_in_day, w.wrong_free_at,
            (SELECT b.link_hash FROM challenge_bindings b WHERE b.challenge_id = c.id) AS link_hash
        FROM challenges c CROSS JOIN LATERAL (
            SELECT coalesce(sum(o.wrong_tries), 0)::bigint AS wrong_in_day,
                min(o.created_at) FILTER (WHERE o.wrong_tries > 0) + interval '1 day 15 minutes' AS wrong_free_at
            FROM challenges o
            WHERE o.phone_hash = c.phone_hash AND o.created_at > now() - interval '1 day 15 minutes'
                AND CASE WHEN starts_with(c.asker, 'device ') THEN o.asker = c.asker
                    ELSE starts_with(o.asker, 'address ') END
        ) AS w
        WHERE c.id = $1 FOR UPDATE OF c
        """
    // A code that somebody tries was sent. CodeStateStore.sent passes over a row that such a try has locked.
    private static let used: Statement = """
        UPDATE challenges SET state = 'used', sent_at = coalesce(sent_at, clock_timestamp()) WHERE id = $1
        """
    private static let wrong: Statement = """
        UPDATE challenges SET wrong_tries = wrong_tries + 1, state = CASE WHEN $2 THEN 'dead' ELSE state END,
            sent_at = coalesce(sent_at, clock_timestamp())
        WHERE id = $1
        """
    private static let lockOut: Statement = """
        INSERT INTO challenge_locks (phone_hash, asker, until)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s')
        ON CONFLICT (phone_hash, asker) DO UPDATE SET until = excluded.until
        """
}
