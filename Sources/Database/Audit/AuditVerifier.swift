import Cryptography
import EventLoop
import Values

/// Reads a whole trail as of one time, and finds rows that were changed, removed, moved or inserted.
@Loop package struct AuditVerifier {
    private static let page: Int64 = 2000

    private let database: Database
    private let keys: KeyRing

    /// Takes the database and the keys of the codes.
    package init(database: Database, keys: KeyRing) { (self.database, self.keys) = (database, keys) }

    /// Every row that is older than this must be in a run. It is twice the time between two runs.
    private static let mostHours = 2

    /// - Parameter file: the runs in the file outside the database; `nil` if there is no such file.
    package func verify(against file: [AuditAnchorRun]?) async throws -> AuditReport {
        try await database.transaction { transaction in
            // The verification of a long trail takes time. It does not see rows that are written meanwhile.
            transaction.send("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            transaction.send("SET LOCAL statement_timeout = 0")
            var report = try await rows(in: transaction)
            let runs = try await anchors(in: transaction, &report)
            try await coverage(in: transaction, &report)
            if let file { Self.compare(runs, with: file, &report) }
            return report
        }
    }

    private func rows(in transaction: Transaction) async throws -> AuditReport {
        var (walk, chain, sequence) = (AuditWalk(), "", Int64(0))
        while true {
            let rows = try await transaction.query(Self.rows, [.text(chain), .integer(sequence), .integer(Self.page)])
            for row in rows { walk.take(try AuditRow(row)) }
            guard let last = rows.last, rows.count == Self.page else { break }
            (chain, sequence) = (try last.text("chain"), try last.integer("sequence"))
        }
        walk.finish()
        var report = walk.report
        for row in try await transaction.query(Self.headsWithoutRows) {
            report.find(try row.text("chain"), AuditWalk.missing(1, try row.integer("sequence")))
        }
        return report
    }

    private func anchors(
        in transaction: Transaction, _ report: inout AuditReport
    ) async throws -> [AuditAnchorRun] {
        let all = try await transaction.query(Self.runs).map { row throws(DatabaseError) in try AuditAnchorRun(row) }
        let runs = all.filter { (1..<AuditAnchorRun.end).contains($0.run) }
        for run in all where !(1..<AuditAnchorRun.end).contains(run.run) {
            report.find(nil, "run \(run.run) has a number that no run is given")
        }
        var previous: [UInt8] = []
        for (index, run) in runs.enumerated() {
            if run.run != Int64(index) + 1, runs[..<index].last?.run != run.run - 1 {
                report.find(nil, "the anchors before run \(run.run) are missing")
            }
            let anchors = try await transaction.query(Self.anchors, [.integer(run.run)])
            let heads = try anchors.map { row throws(DatabaseError) in try AuditHead(row) }
            let code = AuditAnchors.code(
                of: run.run, at: run.at, over: heads, previous: previous, key: run.keyID, in: keys)
            if let code {
                if !constantTimeEqual(code, run.code) {
                    report.find(nil, "the anchors of run \(run.run), made at \(run.at), were changed")
                }
            } else {
                report.find(nil, "run \(run.run) was anchored with the key \(run.keyID), which the ring does not have")
            }
            previous = run.code
            report.anchors += Int64(heads.count)
            for (anchor, head) in zip(anchors, heads) where try anchor.optionalBytes("row_hash") != head.hash {
                report.find(
                    head.chain,
                    try anchor.optionalBytes("row_hash") == nil
                        ? "row \(head.sequence) is missing, which was anchored at \(run.at)"
                        : "row \(head.sequence) is another than was anchored at \(run.at)")
            }
        }
        return runs
    }

    /// Checks that each row is in one run: the first run whose anchor of the chain comes after the row.
    private func coverage(in transaction: Transaction, _ report: inout AuditReport) async throws {
        for row in try await transaction.query(Self.strayAnchors) {
            let (run, count) = (try row.integer("run"), try row.integer("anchors"))
            report.find(nil, "\(count) anchor\(count == 1 ? "" : "s") of run \(run), which nobody made")
        }
        for row in try await transaction.query(Self.repeatedAnchors) {
            let (sequence, run) = (try row.integer("sequence"), try row.integer("run"))
            report.find(try row.text("chain"), "row \(sequence) was anchored in run \(run), and in one before it")
        }
        for row in try await transaction.query(Self.uncovered) {
            let (sequence, at) = (try row.integer("sequence"), try row.timestamp("at"))
            report.find(
                try row.text("chain"),
                "row \(sequence) is in no run of anchors, and is older than \(Self.mostHours) hours: of \(at)")
        }
    }

    private static func compare(_ runs: [AuditAnchorRun], with file: [AuditAnchorRun], _ report: inout AuditReport) {
        let known = Dictionary(runs.map { ($0.run, $0) }) { first, _ in first }
        for run in file {
            if let anchored = known[run.run] {
                guard anchored != run else { continue }
                report.find(nil, "run \(run.run) is another in the file of anchors, which says \(run.at)")
            } else {
                report.find(nil, "run \(run.run), made at \(run.at), is in the file of anchors and not in the database")
            }
        }
        let written = Set(file.map(\.run))
        // A newer run may not be in the file yet.
        for run in runs where run.run < written.max() ?? 0 && !written.contains(run.run) {
            report.find(nil, "run \(run.run), made at \(run.at), is not in the file of anchors")
        }
    }

    private static let rows = Statement(
        """
        SELECT a.chain, a.sequence, a.act, \(AuditAnchorRun.readable("a.at")) AS at, a.details, a.hash,
            h.sequence AS head_sequence, h.hash AS head_hash
        FROM audit a LEFT JOIN audit_heads h ON h.chain = a.chain
        WHERE (a.chain, a.sequence) > ($1, $2) ORDER BY a.chain, a.sequence LIMIT $3
        """)
    private static let headsWithoutRows: Statement = """
        SELECT h.chain, h.sequence FROM audit_heads h
        WHERE NOT EXISTS (SELECT FROM audit a WHERE a.chain = h.chain) ORDER BY h.chain
        """
    private static let runs = Statement(
        "SELECT run, \(AuditAnchorRun.readable("at")) AS at, key_id, code FROM audit_anchor_runs ORDER BY run")
    private static let made = "SELECT run FROM audit_anchor_runs WHERE run >= 1 AND run < \(AuditAnchorRun.end)"
    private static let strayAnchors = Statement(
        """
        SELECT run, count(*) AS anchors FROM audit_anchors WHERE run NOT IN (\(made)) GROUP BY run ORDER BY run
        """)
    private static let repeatedAnchors = Statement(
        """
        SELECT chain, run, sequence FROM (
            SELECT chain, run, sequence, lag(sequence) OVER (PARTITION BY chain ORDER BY run) AS before
            FROM audit_anchors WHERE run IN (\(made))) AS anchors
        WHERE sequence <= before ORDER BY chain, run
        """)
    private static let uncovered = Statement(
        """
        SELECT a.chain, min(a.sequence) AS sequence, \(AuditAnchorRun.readable("min(a.at)")) AS at
        FROM audit a LEFT JOIN (
            SELECT chain, max(sequence) AS last FROM audit_anchors WHERE run IN (\(made)) GROUP BY chain
        ) AS n ON n.chain = a.chain
        WHERE a.sequence > coalesce(n.last, 0) AND a.at < clock_timestamp() - interval '\(mostHours) hours'
        GROUP BY a.chain ORDER BY a.chain
        """)
    private static let anchors: Statement = """
        SELECT n.chain, n.sequence, n.hash, a.hash AS row_hash
        FROM audit_anchors n LEFT JOIN audit a ON a.chain = n.chain AND a.sequence = n.sequence
        WHERE n.run = $1 ORDER BY n.chain
        """
}

extension AuditRow {
    fileprivate init(_ row: Row) throws(DatabaseError) {
        self.init(
            chain: try row.text("chain"), sequence: try row.integer("sequence"), act: try row.text("act"),
            at: try row.timestamp("at"), details: try row.text("details"), hash: try row.bytes("hash"),
            headSequence: try row.optionalInteger("head_sequence"), headHash: try row.optionalBytes("head_hash"))
    }
}
