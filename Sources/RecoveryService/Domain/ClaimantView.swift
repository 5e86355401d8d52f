import BusProtocol

/// The view of a case for its claimant. It does not reveal whether the owner disputed, or whether there is an account:
/// see ``CaseLife``.
enum ClaimantView {
    static func view(
        seen: CaseStatus, requestedAt: Timestamp, holdUntil: Timestamp, now: Timestamp
    ) -> RecoveryCaseView {
        // The timer of the hold may be late. The claimant sees the end of the hold on time.
        let shown = seen == .held && now >= holdUntil ? .identityRequired : seen
        return RecoveryCaseView(
            status: shown.rawValue, requestedAt: requestedAt, holdUntil: holdUntil,
            remainingSeconds: seconds(from: now, until: holdUntil), steps: steps(shown))
    }

    /// The whole seconds until `end`, rounded up, so that zero means over.
    static func seconds(from now: Timestamp, until end: Timestamp) -> Int64 {
        let left = end.microsecondsSinceEpoch - now.microsecondsSinceEpoch
        return max(0, (left + 999_999) / 1_000_000)
    }

    private static func steps(_ status: CaseStatus) -> [RecoveryStep] {
        let keys = ["hold", "identity", "review", "complete"]
        let current =
            switch status {
            case .held, .disputed, .contested, .cancelled, .expired: 0
            case .identityRequired: 1
            case .inReview, .rejected: 2
            case .approved, .completing: 3
            case .completed: 4
            }
        return keys.enumerated().map { index, key in
            RecoveryStep(key: key, state: index < current ? "done" : index == current ? "current" : "pending")
        }
    }
}
