/// What an operator allows.
struct RecoveryPolicy: Sendable {
    /// Seconds.
    var hold: Int64 = 259_200
    /// Requests of a claimant's number within 30 days.
    var perPhone: Int64 = 3
    /// Requests from a client address within a day.
    var perAddressDay: Int64 = 20

    /// Seconds that a freeze lasts at the most: the hold, and as long as anybody waits for evidence, for the reviewers and for
    /// the claimant to complete it.
    var freeze: Int64 { hold + 3 * Self.patience }
    /// Seconds in which whose turn it is must act.
    static let patience: Int64 = 1_209_600
    /// Seconds that a disputed claimant's number is barred from the account.
    static let bar: Int64 = 2_592_000
}
