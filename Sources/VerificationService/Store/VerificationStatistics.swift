import Database
import EventLoop

/// Figures about pictures and verifications, as gauges and counters of this replica.
@Loop final class VerificationStatistics {
    private let database: Database
    private var looked: [String: Double] = [:]
    private var counted: [String: Double] = [:]

    init(_ database: Database) {
        self.database = database
        for result in ["stored", "refused", "failed"] { counted["uploads_\(result)"] = 0 }
        for verdict in Verdict.ofPhotos { counted["verdicts_\(verdict.rawValue)"] = 0 }
        for wait in Verification.Wait.allCases { counted["judgements_\(wait.rawValue)"] = 0 }
    }

    /// Whether this replica makes smaller sizes of photos; `nil` before it has looked.
    var makesSizes: Bool?

    /// The figures by name. Those from the tables are the same for all replicas.
    var measures: [String: Double] {
        var all = looked.merging(counted) { $1 }
        all["photo_sizes"] = makesSizes.map { $0 ? 1 : 0 }
        return all
    }

    func look() async throws {
        guard let row = try await database.read(Self.select).first else { return }
        var found: [String: Double] = [:]
        for name in ["captures", "reviews"] { found[name] = Double(try row.integer(name)) }
        for name in ["destructions_oldest_seconds", "reviews_oldest_seconds"] {
            found[name] = Double(try row.integer(name))
        }
        looked = found
    }

    /// - Parameter status: the HTTP status of the response to an upload.
    func countUpload(status: Int) {
        counted["uploads_\(status < 300 ? "stored" : status < 500 ? "refused" : "failed")", default: 0] += 1
    }

    func count(_ verdict: Verdict) { counted["verdicts_\(verdict.rawValue)", default: 0] += 1 }

    func count(_ wait: Verification.Wait) { counted["judgements_\(wait.rawValue)", default: 0] += 1 }

    private static let select = Statement(
        """
        SELECT
            (SELECT count(*) FROM media WHERE expires_at IS NOT NULL AND state = 'stored' AND purpose <> 'profile_photo')
                AS captures,
            (SELECT coalesce(ceil(extract(epoch FROM clock_timestamp() - min(noted_at))), 0)::bigint FROM destructions)
                AS destructions_oldest_seconds,
            r.count AS reviews, r.seconds AS reviews_oldest_seconds
        FROM (SELECT count(*), coalesce(ceil(extract(epoch FROM clock_timestamp() - min(since))), 0)::bigint AS seconds
            FROM (SELECT since FROM verifications WHERE status = 'manual_review'
                UNION ALL SELECT since FROM id_verifications WHERE status = 'manual_review'
                UNION ALL SELECT created_at FROM media WHERE \(PhotoStore.waitsForReviewer)) AS waiting) AS r
        """)
}
