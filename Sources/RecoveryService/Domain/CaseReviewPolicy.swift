/// Decides who may review a case. A reviewer's name is a pseudonym, or `operator` and a name.
struct CaseReviewPolicy: Sendable {
    /// How long a reviewer has the case after claiming it, in seconds.
    static let turn: Int64 = 1800

    /// The reviewer who has the case now; `nil` if none has.
    var reviewer: String?
    /// The reviewer who gave the first of two approvals.
    var firstApproval: String?
    /// The key of the connection over which an operator gave it; `nil` if no operator did, or on a bus without keys.
    var firstApprovalKey: String?
    /// Whether two approvals are needed, by ``approvalsNeeded(isOfStaff:wasContested:wasDisputed:)``.
    var needsTwo: Bool
    /// The verdict of the evidence provider; `nil` if there is none yet.
    var verdict: String?
    /// Whether the owner still has extra time to object, beyond an ordinary hold.
    var isEarly = false

    enum Refusal: Error, Equatable {
        /// Another reviewer has the case.
        case claimedByAnother
        /// The reviewer must claim the case before deciding.
        case notClaimed
        /// There is no verdict on the evidence, or it is against the claimant.
        case noEvidence
        /// The second approval must come from another reviewer.
        case sameReviewer
        /// No reviewer may decide yet.
        case tooEarly
    }

    /// How many reviewers must approve a case. It takes two if the account belongs to staff, if the owner contested the
    /// case, or if any case against the account was disputed.
    static func approvalsNeeded(isOfStaff: Bool, wasContested: Bool, wasDisputed: Bool) -> Int64 {
        isOfStaff || wasContested || wasDisputed ? 2 : 1
    }

    /// - Parameter key: the key of the operator's connection. An operator can choose a name freely, but not a key.
    func mayClaim(_ name: String, key: String? = nil) throws(Refusal) {
        if let reviewer, reviewer != name { throw .claimedByAnother }
        // The reviewer of the first approval cannot give the second, and must not keep the case from others.
        guard let firstApproval else { return }
        if firstApproval == name || key != nil && firstApprovalKey == key { throw .sameReviewer }
    }

    /// The event of an approval.
    func approval(by name: String, key: String? = nil) throws(Refusal) -> CaseEvent {
        try mayDecide(name, key: key)
        guard let verdict, verdict != "no" else { throw .noEvidence }
        return needsTwo && firstApproval == nil ? .partlyApproved : .approved
    }

    func mayDecide(_ name: String, key: String? = nil) throws(Refusal) {
        if isEarly { throw .tooEarly }
        try mayClaim(name, key: key)
        guard reviewer == name else { throw .notClaimed }
    }
}

/// Decides a shadow case by chance, with decisions that reviewers and an owner could make in a real case.
enum DecoyOutcome {
    /// One in this many cases is approved. One in this many approved cases goes back to the reviewers. All others end.
    static let oneIn: UInt64 = 8

    /// - Parameter chance: a uniformly random number.
    /// - Returns: `nil` if there is nothing to decide in this status.
    static func event(in seen: CaseStatus, by chance: UInt64) -> CaseEvent? {
        switch seen {
        case .inReview: chance % oneIn == 0 ? .approved : .rejected
        case .approved: chance % oneIn == 0 ? .contested : .disputed
        default: nil
        }
    }
}

/// Chooses how long the decision of a shadow case takes.
enum DecoyDelay {
    /// - Parameters:
    ///   - decisions: how many seconds real decisions took lately.
    ///   - chance: a uniformly random number. It picks one of the decisions and changes it by a tenth at most.
    /// - Returns: the seconds. Without real decisions, they are 6 to 48 hours.
    static func seconds(like decisions: [Int64], by chance: UInt64) -> Int64 {
        guard !decisions.isEmpty else { return 21_600 + Int64(chance % 151_200) }
        let picked = decisions[Int(chance % UInt64(decisions.count))]
        let tenth = picked / 10
        return max(1, picked - tenth + Int64((chance >> 32) % UInt64(2 * tenth + 1)))
    }
}
