import BusProtocol

/// The state of a challenge, as far as its caller may see it.
struct CodeState: Sendable, Equatable {
    /// Of the challenge's row.
    var state: ChallengeState?
    /// Whether a provider accepted the SMS.
    var isSent: Bool
    var createdAt: Timestamp
    var expiresAt: Timestamp
    /// After too many wrong codes, the caller gets no other code for the phone until then.
    var lockedUntil: Timestamp?
    /// By the database's clock.
    var now: Timestamp

    /// - Parameter resendAfter: the seconds between two codes to a phone.
    func delivery(resendAfter: Int64) -> CodeDelivery {
        let isGivenUp = state == .undelivered
        // A code that somebody tried has arrived, even if the provider reported a failure. A code that was given up
        // does not count.
        let isKnownToHaveCome = isSent || state == .used || state == .dead
        let next = isGivenUp ? now : createdAt + .seconds(resendAfter)
        return CodeDelivery(
            delivery: isGivenUp ? "failed" : isKnownToHaveCome ? "sent" : "queued",
            resendAfterSeconds: ChallengePolicy.seconds(from: now, to: max(next, lockedUntil ?? next)),
            expiresInSeconds: state == .open ? ChallengePolicy.seconds(from: now, to: expiresAt) : 0)
    }
}
