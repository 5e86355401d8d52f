import Cryptography
import EventLoop
import Values

/// The end of a chain at some moment.
struct AuditHead: Sendable {
    let chain: String
    let sequence: Int64
    let hash: [UInt8]

    init(_ row: Row) throws(DatabaseError) {
        chain = try row.text("chain")
        sequence = try row.integer("sequence")
        hash = try row.bytes("hash")
    }
}

/// A run of anchors: one code over the ends of many chains and over the run before it.
public struct AuditAnchorRun: Sendable, Equatable {
    /// No run has this number or one above it: JSON does not keep all of them.
    static let end: Int64 = 9_007_199_254_740_991

    /// SQL of a time that has four digits for its year. Whoever may do everything in the database may have made another of
    /// it, and the codes then differ.
    static func readable(_ column: String) -> String { "greatest(least(\(column), '9999-12-31Z'), '0001-01-01Z')" }

    /// Counted from 1.
    public let run: Int64
    public let at: Timestamp
    /// Of the ring's key that the code is made with.
    public let keyID: String
    public let code: [UInt8]

    public init(run: Int64, at: Timestamp, keyID: String, code: [UInt8]) {
        self.run = run
        self.at = at
        self.keyID = keyID
        self.code = code
    }

    init(_ row: Row) throws(DatabaseError) {
        self.init(
            run: try row.integer("run"), at: try row.timestamp("at"), keyID: try row.text("key_id"),
            code: try row.bytes("code"))
    }
}

/// Codes over the ends of the chains, made each hour with a key that the database does not have: who could rewrite a
/// whole chain there cannot make its anchors.
@Loop public struct AuditAnchors {
    /// Between two runs.
    public nonisolated static let interval = Duration.seconds(3600)
    /// Chains of one transaction, which keeps their next acts waiting.
    private static let batch: Int64 = 500

    private let database: Database
    private let keys: KeyRing

    public init(database: Database, keys: KeyRing) { (self.database, self.keys) = (database, keys) }

    /// Anchors every chain that went on since its last anchor, where the last run is an hour old; once for the fleet.
    ///
    /// - Parameter isForced: whatever the last run's age.
    public func anchorIfDue(isForced: Bool = false) async throws {
        var count = try await anchorSome(isForced: isForced)
        while count == Self.batch { count = try await anchorSome(isForced: true) }
    }

    /// The runs behind one, in their order.
    public func runs(after run: Int64) async throws -> [AuditAnchorRun] {
        try await database.read(Self.select, [.integer(run)]).map { row throws(DatabaseError) in
            try AuditAnchorRun(row)
        }
    }

    /// - Returns: how many chains were anchored.
    private func anchorSome(isForced: Bool) async throws -> Int64 {
        try await database.transaction { transaction in
            transaction.send(Self.turn)
            guard let state = try await transaction.query(Self.last).first else { throw DatabaseError.aborted }
            let (now, last) = (try state.timestamp("now"), try state.optionalTimestamp("at"))
            if let last, !isForced, now < last + Self.interval { return 0 }
            let run = (try state.optionalInteger("run") ?? 0) + 1
            let heads = try await transaction.query(Self.take, [.integer(run), .integer(Self.batch)])
                .map { row throws(DatabaseError) in try AuditHead(row) }
            guard !heads.isEmpty else { return 0 }
            let code = Self.code(
                of: run, at: now, over: heads, previous: try state.optionalBytes("code") ?? [],
                key: keys.current.id, in: keys)
            transaction.send(
                "INSERT INTO audit_anchor_runs (run, at, key_id, code) VALUES ($1, $2, $3, $4)",
                [.integer(run), .timestamp(now), .text(keys.current.id), .bytes(code)])
            return Int64(heads.count)
        }
    }

    /// - Parameter heads: in any order.
    /// - Returns: `nil` where the ring has no such key.
    nonisolated static func code(
        of run: Int64, at: Timestamp, over heads: [AuditHead], previous: [UInt8], key: String, in keys: KeyRing
    ) -> [UInt8]? {
        guard let subkey = keys.subkey(purpose: "audit-anchor", keyID: key) else { return nil }
        var lines: [UInt8] = []
        for head in heads.sorted(by: { $0.chain < $1.chain }) {
            lines += Array("\(head.chain)\n".utf8) + AuditHash.bigEndian(head.sequence) + head.hash
        }
        let moment = AuditHash.bigEndian(run) + AuditHash.bigEndian(at.microsecondsSinceEpoch)
        return HMACSHA256.code(for: previous + moment + SHA256.digest(lines), key: subkey)
    }

    private static let turn = Statement("SELECT \(AdvisoryLock.auditAnchors.wait())")
    private static let last = Statement(
        """
        SELECT clock_timestamp() AS now, r.run, r.at, r.code
        FROM (VALUES (1)) AS one LEFT JOIN (
            SELECT run, \(AuditAnchorRun.readable("at")) AS at, code FROM audit_anchor_runs WHERE run < \(AuditAnchorRun.end)
            ORDER BY run DESC LIMIT 1) AS r ON true
        """)
    private static let take: Statement = "SELECT chain, sequence, hash FROM audit_anchor($1, $2)"
    private static let select = Statement(
        """
        SELECT run, \(AuditAnchorRun.readable("at")) AS at, key_id, code
        FROM audit_anchor_runs WHERE run > $1 AND run < \(AuditAnchorRun.end) ORDER BY run
        """)
}

/// How the rows of a chain hang together.
enum AuditHash {
    /// The same as `audit_append` computes in the database.
    ///
    /// - Parameter previous: the hash of the row before; empty for the first.
    static func hash(
        previous: [UInt8], chain: String, sequence: Int64, at: Timestamp, act: String, details: String
    ) -> [UInt8] {
        let place = previous + bigEndian(sequence) + bigEndian(at.microsecondsSinceEpoch)
        return SHA256.digest(place + Array("\(chain)\n\(act)\n\(details)".utf8))
    }

    static func bigEndian(_ value: Int64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}
