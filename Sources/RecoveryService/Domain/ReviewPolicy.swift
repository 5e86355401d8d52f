/// Who decides upon a case. Names are pseudonyms, or `operator` and a name.
struct ReviewPolicy: Sendable {
    /// A case is somebody's for review for so long, in seconds.
    static let turn: Int64 = 1800

    /// Who has the case now; `nil` where nobody has.
    var reviewer: String?
    /// Who said yes before, where two must.
    var firstApproval: String?
    /// By which key's connection an operator said so; `nil`: no operator, or a bus without keys.
    var firstApprovalKey: String?
    /// A dispute came before, or the account is of staff.
    var needsTwo: Bool
    /// What the provider of evidence said; `nil`: nothing yet.
    var verdict: String?

    enum Refusal: Error, Equatable {
        /// Somebody else has it.
        case claimedByAnother
        /// Nobody decides without having it.
        case notClaimed
        /// The evidence has not been judged, or speaks against the claimant.
        case noEvidence
        /// The second yes must be another's.
        case sameReviewer
    }

    /// - Parameter key: as ``firstApprovalKey``: a name is what an operator says of themselves, a key is what they have.
    func mayClaim(_ name: String, key: String? = nil) throws(Refusal) {
        if let reviewer, reviewer != name { throw .claimedByAnother }
        // Who said yes cannot say it again, and must not keep the case from others.
        guard let firstApproval else { return }
        if firstApproval == name || key != nil && firstApprovalKey == key { throw .sameReviewer }
    }

    /// What a yes of somebody does.
    func approval(by name: String, key: String? = nil) throws(Refusal) -> CaseEvent {
        try mayDecide(name, key: key)
        guard let verdict, verdict != "no" else { throw .noEvidence }
        return needsTwo && firstApproval == nil ? .partlyApproved : .approved
    }

    func mayDecide(_ name: String, key: String? = nil) throws(Refusal) {
        try mayClaim(name, key: key)
        guard reviewer == name else { throw .notClaimed }
    }
}

/// What is decided where nobody decides: what reviewers and an owner may decide of a real case.
enum DecoyCourse {
    /// One in so many is approved, and of the approved one in so many goes back to the reviewers; all others are over next.
    static let oneIn: UInt64 = 8

    /// - Parameter chance: any number, all of them equally likely.
    /// - Returns: `nil` where nothing is to be decided.
    static func event(in seen: CaseStatus, by chance: UInt64) -> CaseEvent? {
        switch seen {
        case .inReview: chance % oneIn == 0 ? .approved : .rejected
        case .approved: chance % oneIn == 0 ? .contested : .disputed
        default: nil
        }
    }
}

/// How long a decision is made to take where nobody decides.
enum DecoyDelay {
    /// - Parameters:
    ///   - decisions: seconds that real ones took lately.
    ///   - chance: picks one of them and moves it by a tenth at the most.
    /// - Returns: seconds; 6 to 48 hours where nothing was decided yet.
    static func seconds(like decisions: [Int64], by chance: UInt64) -> Int64 {
        guard !decisions.isEmpty else { return 21_600 + Int64(chance % 151_200) }
        let picked = decisions[Int(chance % UInt64(decisions.count))]
        let tenth = picked / 10
        return max(1, picked - tenth + Int64((chance >> 32) % UInt64(2 * tenth + 1)))
    }
}
