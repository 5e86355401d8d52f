import BusProtocol
import Database
import EventLoop

/// Finds and rewrites the numbers and addresses whose hashes are under other look-up keys than the key ring's.
@Loop enum PhoneLookupStore {
    /// A row of `phones`, `phone_aliases` or `emails` before it is rewritten.
    struct Stale: Sendable {
        let person: Identifier
        let hash: [UInt8]
        let sealed: [UInt8]
    }

    /// The new content of a row.
    struct Fresh: Sendable {
        let stale: Stale
        let hashes: ContactHashes
        let sealed: [UInt8]
    }

    enum Table: String, CaseIterable {
        case phones, emails
        case aliases = "phone_aliases"

        var kind: Contact.Kind { self == .emails ? .email : .phone }
    }

    /// A key that is not in `keys`, and without which the contact of some account is not found; `nil` if there is none.
    static func missingKey(_ keys: [String], in database: Database) async throws -> String? {
        for table in Table.allCases {
            let row = try await database.read(missing(table), [.textArray(keys)]).first
            if let row { return try row.text("key_id") }
        }
        return nil
    }

    /// The next people after `person`, in the order of their ids.
    static func people(after person: Identifier?, limit: Int64, in database: Database) async throws -> [Identifier] {
        try await database.read(people, [.uuid(person ?? .least), .integer(limit)]).map { try $0.uuid("id") }
    }

    /// The rows of these people whose hashes are not under exactly these keys.
    static func stale(
        in table: Table, of people: [Identifier], _ keys: [String], _ database: Database
    ) async throws -> [Stale] {
        try await database.read(stale(table), [.uuidArray(people)] + pair(keys)).map {
            Stale(person: try $0.uuid("person_id"), hash: try $0.bytes("hash"), sealed: try $0.bytes("sealed"))
        }
    }

    /// The number of rows whose hashes are not under exactly these keys.
    static func left(_ keys: [String], in database: Database) async throws -> Int64 {
        var sum: Int64 = 0
        for table in Table.allCases {
            sum += try await database.read(left(table), pair(keys)).first?.integer("left") ?? 0
        }
        return sum
    }

    /// Rewrites rows. A row whose contact was changed meanwhile stays as it is.
    ///
    /// - Returns: how many rows it rewrote.
    static func write(_ rows: [Fresh], to table: Table, in database: Database) async throws -> Int64 {
        guard !rows.isEmpty else { return 0 }
        let columns = rows.map {
            [.uuid($0.stale.person), .bytes($0.stale.hash)] + $0.hashes.row + [.bytes($0.sealed)]
        }
        let values = columns[0].indices.map { column in SQLValue.array(columns.map { $0[column] }) }
        return try await database.write(write(table), values).first?.integer("written") ?? 0
    }

    private static func pair(_ keys: [String]) -> [SQLValue] {
        [.text(keys.first), .text(keys.dropFirst().first)]
    }

    private static let people: Statement = "SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2"
    /// Auth runs this query when it starts. It uses the index to step from one pair of keys to the next, so its time
    /// does not depend on the number of phones.
    private static func missing(_ table: Table) -> Statement {
        let next = "SELECT key_id, coalesce(other_key_id, '') AS other FROM \(table.rawValue)"
        let order = "ORDER BY key_id, coalesce(other_key_id, '') LIMIT 1"
        return Statement(
            """
            WITH RECURSIVE pairs AS (
                (\(next) \(order))
                UNION ALL SELECT n.* FROM pairs p, LATERAL (
                    \(next) WHERE (key_id, coalesce(other_key_id, '')) > (p.key_id, p.other) \(order)) AS n)
            SELECT coalesce(nullif(other, ''), key_id) AS key_id FROM pairs
            WHERE key_id <> ALL ($1) AND other <> ALL ($1) LIMIT 1
            """)
    }
    private static let isStale = "(key_id, other_key_id) IS DISTINCT FROM"
    private static func stale(_ table: Table) -> Statement {
        Statement(
            """
            SELECT person_id, hash, sealed FROM \(table.rawValue)
            WHERE person_id = ANY ($1) AND \(isStale) ($2::text, $3::text)
            """)
    }
    private static func left(_ table: Table) -> Statement {
        Statement("SELECT count(*) AS left FROM \(table.rawValue) WHERE \(isStale) ($1::text, $2::text)")
    }
    private static func write(_ table: Table) -> Statement {
        Statement(
            """
            WITH written AS (
                UPDATE \(table.rawValue) t SET hash = n.hash, key_id = n.key_id, other_hash = n.other_hash,
                    other_key_id = n.other_key_id, sealed = n.sealed
                FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::text[], $5::bytea[], $6::text[], $7::bytea[])
                    AS n (person_id, stale, hash, key_id, other_hash, other_key_id, sealed)
                WHERE t.person_id = n.person_id AND t.hash = n.stale RETURNING 1)
            SELECT count(*) AS written FROM written
            """)
    }
}

extension ContactHashes {
    /// The values of the columns `hash`, `key_id`, `other_hash` and `other_key_id`.
    var row: [SQLValue] {
        let other = lookups.dropFirst().first
        return [.bytes(lookups[0].hash), .text(lookups[0].keyID), .bytes(other?.hash), .text(other?.keyID)]
    }

    /// The value for ``found(_:by:)``.
    var sought: SQLValue { .array(lookups.map { .bytes($0.hash) }) }

    /// The SQL condition that a row has a number, under whichever look-up key it was written.
    static func found(_ row: String, by sought: String) -> String {
        "(\(row).hash = ANY (\(sought)) OR \(row).other_hash = ANY (\(sought)))"
    }
}
