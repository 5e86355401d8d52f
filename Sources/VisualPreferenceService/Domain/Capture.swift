import Values

/// A person's visual session with its pairs, and the rules for changing it. Nothing here reads a clock or a table.
struct Capture: Sendable {
    enum Status: String, Sendable {
        case inProgress = "in_progress"
        case deferred, ready, insufficient
    }

    /// A pair with its ID.
    struct Shown: Sendable {
        let id: Identifier
        var comparison: Comparison
        var mutation: Identifier?
    }

    /// The version of the rules that draw pairs and fit weights.
    static let algorithm: Int64 = 1
    static let ridge = 1.0

    let session: Identifier
    let seed: UInt64
    let ridge: Double
    let set: StimulusSet
    var status: Status
    var shown: [Shown]
    var newSessionAt: Timestamp?
    /// Whether this change defers the rest of the session.
    private(set) var isDeferredNow = false

    var comparisons: [Comparison] { shown.map(\.comparison) }
    var answered: Int { shown.count { $0.comparison.choice != nil } }
    /// The pairs that are shown and not answered.
    var open: [Shown] { shown.filter { $0.comparison.choice == nil } }
    var isOver: Bool { status == .ready || status == .insufficient }
    var total: Int { max(PairPlan.total, shown.count) }

    /// Why a choice is not saved.
    enum Refusal: String, Sendable {
        case conflict = "answer_conflict"
        case mutationReused = "mutation_id_reused"
        case unknown = "not_found"
    }

    /// Takes a choice. A repetition changes nothing, and neither does the same choice from another device.
    ///
    /// - Returns: why the choice does not count; `nil` if it does.
    mutating func take(
        _ choice: Side, of id: Identifier, latencyMs: Int64, mutation: Identifier
    ) -> Refusal? {
        guard let place = shown.firstIndex(where: { $0.id == id }) else { return .unknown }
        if shown.contains(where: { $0.mutation == mutation && $0.id != id }) { return .mutationReused }
        if let known = shown[place].comparison.choice {
            guard known != choice else { return nil }
            return shown[place].mutation == mutation ? .mutationReused : .conflict
        }
        shown[place].comparison.choice = choice
        shown[place].comparison.latencyMs = latencyMs
        shown[place].mutation = mutation
        status = .inProgress
        return nil
    }

    /// If all pairs are answered, draws the next batch or ends the session.
    mutating func advance(now: Timestamp, newSessionAfter: Duration) {
        guard !isOver, open.isEmpty else { return }
        switch CaptureVerdict(comparisons) {
        case .ready: status = .ready
        case .insufficient:
            status = .insufficient
            newSessionAt = now + newSessionAfter
        case .open:
            let plan = PairPlan(items: set.levels, ridge: ridge, seed: seed)
            shown += plan.next(after: comparisons).map { Shown(id: .ordered(), comparison: $0) }
        }
    }

    /// Defers the rest, again if it was deferred before. A session that has ended does not change.
    mutating func `defer`() {
        guard !isOver else { return }
        (status, isDeferredNow) = (.deferred, true)
    }

    /// Whether a new session may take the place of this one.
    func mayBeginAgain(now: Timestamp) -> Bool { status == .insufficient && newSessionAt.map { $0 <= now } ?? true }
}
