/// Decides the effect of an owner's dispute.
///
/// A claimant with two SIM cards must not get around the owner's veto. A thief with the owner's phone must not be able
/// to dispute for ever.
enum DisputePolicy {
    /// The days for which an earlier contest counts.
    static let days = 90

    /// - Parameters:
    ///   - hasProof: whether the claimant has given a proof that no stranger could have.
    ///   - wasContested: whether this case was contested before.
    ///   - wasContestedLately: whether reviewers decided another contested case against the account within ``days``.
    /// - Returns: `nil` if the dispute changes nothing, because the reviewers have decided.
    static func event(hasProof: Bool, wasContested: Bool, wasContestedLately: Bool, in status: CaseStatus) -> CaseEvent?
    {
        if wasContested { return status == .contested ? .contested : nil }
        return hasProof && !wasContestedLately ? .contested : .disputed
    }
}
