/// What an operator allows.
struct RecoveryPolicy: Sendable {
    /// Seconds.
    var hold: Int64 = 259_200
    /// Seconds; of a number that was claimed often lately.
    var riskyHold: Int64 = 604_800
    /// Requests of a claimant's number within 30 days.
    var perPhone: Int64 = 3
    /// Requests from a client address within a day.
    var perAddressDay: Int64 = 20

    /// The hold of a claim, in seconds: what it depends upon is the same for a number without an account.
    ///
    /// - Parameter claims: earlier ones of the same number within 30 days, by whomever.
    func hold(afterClaims claims: Int64) -> Int64 { claims >= Self.manyClaims ? max(hold, riskyHold) : hold }

    /// Seconds that a freeze lasts at the most: the hold, and as long as anybody waits for evidence, for the reviewers and for
    /// the claimant to complete it.
    var freeze: Int64 { max(hold, riskyHold) + 3 * Self.patience }
    static let manyClaims: Int64 = 3
    /// Seconds in which whose turn it is must act.
    static let patience: Int64 = 1_209_600
    /// Seconds that a disputed claimant's number is barred from the account.
    static let bar: Int64 = 2_592_000
    /// Seconds after a rejection in which the claimant may not ask again.
    static let coolingOff: Int64 = 604_800
}
