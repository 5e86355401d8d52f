import BusProtocol

/// The sums over the batches of a session migration.
struct QuestionnaireSessionMigrationTotals {
    private var sessions: Int64 = 0
    private var kept: Int64 = 0
    private var stale: Int64 = 0
    private var orphaned: Int64 = 0
    private var remaining: Int64 = 0
    private var version: Int64 = 0
    /// The number of sessions that were not moved, by the code of the reason.
    private var notMoved: [String: Int] = [:]

    /// - Returns: the `after` of the next request; `nil` if no request is left. It is also `nil` if profile answered
    ///   for no session. The rest has to wait then.
    mutating func add(_ batch: SessionsMigrated) -> String? {
        sessions += batch.sessions
        kept += batch.kept
        stale += batch.stale
        orphaned += batch.orphaned
        (remaining, version) = (batch.remaining, batch.toVersion)
        let left = batch.notMoved ?? []
        for one in left { notMoved[one.code, default: 0] += 1 }
        let isProfileOut = batch.sessions == 0 && left.contains { $0.code == ErrorCode.serviceUnavailable.name }
        return isProfileOut ? nil : batch.next
    }

    /// A progress bar for a terminal.
    var bar: String {
        let total = max(1, sessions + remaining)
        let full = Int(sessions * 30 / total)
        let (done, left) = (String(repeating: "#", count: full), String(repeating: ".", count: 30 - full))
        return "[\(done)\(left)] \(sessions * 100 / total) %, \(sessions) of \(total)"
    }

    var line: String {
        "\(sessions) session\(sessions == 1 ? "" : "s") to version \(version): \(kept) answers kept, \(stale) asked again, "
            + "\(orphaned) no longer asked."
    }

    /// The warning about sessions that were not moved; `nil` if there are none.
    var warning: String? {
        guard !notMoved.isEmpty else { return nil }
        let counts = notMoved.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "Not moved: \(counts). Run it again to try these sessions once more."
    }
}
