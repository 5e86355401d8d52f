/// The verdict on the answers of a visual session.
enum CaptureVerdict: Sendable, Equatable {
    /// More pairs are needed.
    case open
    /// All checks of the first or of the second try hold.
    case ready
    /// Both tries had a check that does not hold.
    case insufficient

    /// - Parameter answered: whole batches, with all pairs answered.
    init(_ answered: [Comparison]) {
        let (first, second) = (answered.prefix(PairPlan.total), answered.dropFirst(PairPlan.total))
        guard first.count == PairPlan.total else {
            self = .open
            return
        }
        if Self.hold(first) {
            self = .ready
        } else if second.isEmpty {
            self = .open
        } else {
            self = Self.hold(second) ? .ready : .insufficient
        }
    }

    private static func hold(_ comparisons: ArraySlice<Comparison>) -> Bool {
        comparisons.allSatisfy { $0.holds ?? true }
    }
}

/// Something about a session's answers that staff should know.
enum AnswerFlag: String, Sendable, CaseIterable {
    /// At least half of the answers took less than a quarter of a second.
    case tooFast = "too_fast"
    /// At least nine of ten sides that were chosen are the same one.
    case oneSide = "one_side"

    static let fastMs: Int64 = 250

    static func all(in answered: [Comparison]) -> [AnswerFlag] {
        let fast = answered.filter { $0.latencyMs.map { $0 < fastMs } ?? false }.count
        let left = answered.filter { $0.choice == .left }.count
        let right = answered.filter { $0.choice == .right }.count
        var flags: [AnswerFlag] = []
        if answered.count >= PairPlan.total, fast * 2 >= answered.count { flags.append(.tooFast) }
        if left + right >= 10, max(left, right) * 10 >= (left + right) * 9 { flags.append(.oneSide) }
        return flags
    }
}
