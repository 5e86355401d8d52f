import Cryptography
import EventLoop
import Values

/// The end of a chain at one time.
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

/// A run of anchors: one authentication code over the ends of many chains and over the previous run.
package struct AuditAnchorRun: Sendable, Equatable {
    /// Runs have smaller numbers than this, because JSON does not keep larger ones exactly.
    static let end: Int64 = 9_007_199_254_740_991

    /// SQL that limits a time to years with four digits. An owner of the database may have stored another time. The
    /// codes then differ.
    static func readable(_ column: String) -> String { "greatest(least(\(column), '9999-12-31Z'), '0001-01-01Z')" }

    /// The number of the run, from 1.
    package let run: Int64
    /// When the run was made.
    package let at: Timestamp
    /// The ID of the key that made the code.
    package let keyID: String
    /// The authentication code.
    package let code: [UInt8]

    /// Takes the parts of a run.
    package init(run: Int64, at: Timestamp, keyID: String, code: [UInt8]) {
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

/// Authentication codes over the ends of the chains. Replicas make them every hour with a key that is not in the
/// database.
///
/// An attacker who can rewrite a whole chain in the database cannot make its anchors.
@Loop package struct AuditAnchors {
    /// The time between two runs.
    package nonisolated static let interval = Duration.seconds(3600)
    /// The most chains of one transaction, which blocks their next entries.
    private static let batch: Int64 = 500

    private let database: Database
    private let keys: KeyRing

    /// Takes the database and the keys of the codes.
    package init(database: Database, keys: KeyRing) { (self.database, self.keys) = (database, keys) }

    /// Anchors every chain that grew since its last anchor, if the last run is an hour old. All replicas together do
    /// this once.
    ///
    /// - Parameter isForced: anchors even if the last run is less than an hour old.
    package func anchorIfDue(isForced: Bool = false) async throws {
        var count = try await anchorSome(isForced: isForced)
        while count == Self.batch { count = try await anchorSome(isForced: true) }
    }

    /// The runs after one run, in order.
    package func runs(after run: Int64) async throws -> [AuditAnchorRun] {
        try await database.read(Self.select, [.integer(run)]).map { row throws(DatabaseError) in
            try AuditAnchorRun(row)
        }
    }

    /// - Returns: the number of chains that were anchored.
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
    /// - Returns: `nil` if the key ring does not have the key.
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

/// How each row of a chain depends on the row before.
enum AuditHash {
    /// The hash that `audit_append` computes in the database.
    ///
    /// - Parameter previous: the hash of the row before; empty for the first row.
    static func hash(
        previous: [UInt8], chain: String, sequence: Int64, at: Timestamp, act: String, details: String
    ) -> [UInt8] {
        let place = previous + bigEndian(sequence) + bigEndian(at.microsecondsSinceEpoch)
        return SHA256.digest(place + Array("\(chain)\n\(act)\n\(details)".utf8))
    }

    static func bigEndian(_ value: Int64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}
