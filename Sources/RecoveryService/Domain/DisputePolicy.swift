/// What an owner's no does. Two SIM cards must not abolish the owner's veto, and a thief with the phone must not dispute for
/// ever.
enum DisputePolicy {
    /// - Parameters:
    ///   - hasProof: the claimant has shown what a stranger cannot.
    ///   - wasContested: reviewers heard both sides of this case.
    ///   - wasContestedLately: reviewers decided upon another case against the account that was contested within 90 days.
    /// - Returns: `nil` where the reviewers' word stands.
    static func event(hasProof: Bool, wasContested: Bool, wasContestedLately: Bool, in status: CaseStatus) -> CaseEvent?
    {
        if wasContested { return status == .contested ? .contested : nil }
        return hasProof && !wasContestedLately ? .contested : .disputed
    }
}
