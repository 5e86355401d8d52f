import BusProtocol

/// What is known of the two numbers of a claim before it becomes a case.
struct ClaimHistory: Sendable {
    /// Other cases of the claimant's number within 30 days.
    var ofClaimant: Int64
    /// Cases against the number that is asked for within 30 days, by whomever.
    var ofAccount: Int64
    /// Seconds until a claimant that reviewers rejected may ask again; 0 or less: at once.
    var coolingSeconds: Int64
    /// The claimant is barred from the account.
    var isBarred: Bool
    /// Only proven claimants may ask for the account.
    var isLocked: Bool
    /// Of the accounts that were claimed lately, those that slept.
    var dormantPercent: Int64
}

/// What becomes of a claim.
enum ClaimDecision: Sendable, Equatable {
    /// Seconds until the claimant's number may ask again.
    case tooMany(wait: Int64)
    /// - Parameter hold: seconds.
    case made(isDecoy: Bool, hold: Int64)
}

extension RecoveryPolicy {
    /// What becomes of a claim that auth began.
    func decision(on begun: RecoveryBegun, after history: ClaimHistory) -> ClaimDecision {
        if history.ofClaimant >= perPhone { return .tooMany(wait: 2_592_000) }
        if history.coolingSeconds > 0 { return .tooMany(wait: history.coolingSeconds) }
        let isLocked = history.isLocked && begun.proof == nil
        let looksDormant =
            begun.accountID == nil
            ? Self.looksDormant(begun.accountReference, share: Double(history.dormantPercent) / 100)
            : begun.isDormant == true
        return .made(
            isDecoy: begun.accountID == nil || history.isBarred || isLocked,
            hold: hold(afterClaims: history.ofAccount, isDormant: looksDormant))
    }
}
