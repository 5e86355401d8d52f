import Database
import EventLoop

/// Figures about pictures and verifications, as gauges and counters of this replica.
@Loop final class VerificationStatistics {
    private let store: VerificationStore
    private var looked: [String: Double] = [:]
    private var counted: [String: Double] = [:]

    init(_ database: Database) {
        store = VerificationStore(database: database)
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

    func look() async throws { looked = try await store.figures() }

    /// - Parameter status: the HTTP status of the response to an upload.
    func countUpload(status: Int) {
        counted["uploads_\(status < 300 ? "stored" : status < 500 ? "refused" : "failed")", default: 0] += 1
    }

    func count(_ verdict: Verdict) { counted["verdicts_\(verdict.rawValue)", default: 0] += 1 }

    func count(_ wait: Verification.Wait) { counted["judgements_\(wait.rawValue)", default: 0] += 1 }
}
