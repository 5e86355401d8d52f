import BusProtocol

/// What the claimant is shown of a case. Whether it was disputed, and whether there is an account at all, cannot be told
/// from it: a disputed case goes on to look as it would have without the dispute, and withdrawn it looks as any other.
enum ClaimantView {
    static func view(
        status: CaseStatus, isWithdrawn: Bool, requestedAt: Timestamp, holdUntil: Timestamp, now: Timestamp
    ) -> RecoveryCaseView {
        let shown = isWithdrawn ? .cancelled : shownStatus(status, holdUntil: holdUntil, now: now)
        return RecoveryCaseView(
            status: shown.rawValue, requestedAt: requestedAt, holdUntil: holdUntil,
            remainingSeconds: remainingSeconds(until: holdUntil, now: now), steps: steps(shown))
    }

    static func shownStatus(_ status: CaseStatus, holdUntil: Timestamp, now: Timestamp) -> CaseStatus {
        switch status {
        case .held, .disputed, .contested: now < holdUntil ? .held : .identityRequired
        default: status
        }
    }

    /// Whole seconds, rounded up, so that zero means over.
    static func remainingSeconds(until holdUntil: Timestamp, now: Timestamp) -> Int64 {
        let left = holdUntil.microsecondsSinceEpoch - now.microsecondsSinceEpoch
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
