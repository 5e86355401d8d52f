import BusProtocol

extension RecoveryBegun {
    /// All references by which the claimant is known again.
    var claimants: [String] { [claimantReference, claimantMailbox].compactMap { $0 } + (claimantProofs ?? []) }
}

/// The facts about the claimant and the claimed account before a claim becomes a case.
struct ClaimHistory: Sendable {
    /// The days for which cases count.
    static let days: Int64 = 30

    /// Other cases of the claimant within ``days``.
    var ofClaimant: Int64
    /// Cases within ``days`` that name the account in the same way, by any claimant.
    var ofName: Int64
    /// Cases against the account within ``days``, by any of its names and any claimant; 0 without an account.
    var ofAccount: Int64
    /// Seconds until a claimant whom reviewers rejected may ask again; 0 or less means at once.
    var coolingSeconds: Int64
    /// The claimant is barred from the account.
    var isBarred: Bool
    /// Only proven claimants may ask for the account.
    var isLocked: Bool
    /// The percentage of dormant accounts among those that were claimed lately.
    var dormantPercent: Int64
}

/// The decision on a claim.
enum ClaimDecision: Sendable, Equatable {
    /// Seconds until the claimant may ask again.
    case tooMany(wait: Int64)
    /// - Parameters:
    ///   - hold: seconds.
    ///   - decidedAfter: the seconds after which reviewers may decide; `nil` if that is the hold.
    case made(isDecoy: Bool, hold: Int64, decidedAfter: Int64? = nil)
}

extension RecoveryPolicy {
    /// Decides on a claim that auth began.
    func decision(on begun: RecoveryBegun, after history: ClaimHistory) -> ClaimDecision {
        if history.ofClaimant >= perPhone { return .tooMany(wait: ClaimHistory.days * 86_400) }
        if history.coolingSeconds > 0 { return .tooMany(wait: history.coolingSeconds) }
        let isLocked = history.isLocked && begun.proof == nil
        let looksDormant =
            begun.accountID == nil
            ? Self.looksDormant(begun.accountReference, share: Double(history.dormantPercent) / 100)
            : begun.isDormant == true
        let hold = hold(afterClaims: history.ofName, isDormant: looksDormant)
        // An account that was claimed often by its other names is risky, too. The hold must not show that the names are
        // of one account. So the reviewers wait instead. The claimant cannot tell that from a slow review.
        let whole = self.hold(afterClaims: history.ofAccount, isDormant: looksDormant)
        return .made(
            isDecoy: begun.accountID == nil || history.isBarred || isLocked, hold: hold,
            decidedAfter: whole > hold ? whole : nil)
    }
}
