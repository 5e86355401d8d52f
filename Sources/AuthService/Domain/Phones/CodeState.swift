import BusProtocol

/// A challenge as whoever asked for it may see it.
struct CodeState: Sendable, Equatable {
    /// Of the challenge's row; `nil` where only a newer release knows it.
    var state: ChallengeState?
    /// A provider took the SMS.
    var isSent: Bool
    var createdAt: Timestamp
    var expiresAt: Timestamp
    /// Until then whoever asked gets no other one for the phone, after too many wrong codes.
    var lockedUntil: Timestamp?
    /// The database's clock.
    var now: Timestamp

    /// - Parameter resendAfter: seconds between two codes to a phone.
    func delivery(resendAfter: Int64) -> CodeDelivery {
        let isGivenUp = state == .undelivered
        // A code that was tried has come, whatever the provider's answer was; one that was given up counts for nothing.
        let isKnownToHaveCome = isSent || state == .used || state == .dead
        let next = isGivenUp ? now : createdAt + .seconds(resendAfter)
        return CodeDelivery(
            delivery: isGivenUp ? "failed" : isKnownToHaveCome ? "sent" : "queued",
            resendAfterSeconds: ChallengePolicy.seconds(from: now, to: max(next, lockedUntil ?? next)),
            expiresInSeconds: state == .open ? ChallengePolicy.seconds(from: now, to: expiresAt) : 0)
    }
}
