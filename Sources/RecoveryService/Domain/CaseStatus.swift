/// Where a recovery case stands.
enum CaseStatus: String, Sendable, CaseIterable {
    case held
    case identityRequired = "identity_required"
    case inReview = "in_review"
    case approved, completing, completed, disputed, contested, rejected, cancelled, expired

    /// Nothing can happen to the case any more.
    var isClosed: Bool {
        switch self {
        case .completed, .disputed, .rejected, .cancelled, .expired: true
        case .held, .identityRequired, .inReview, .approved, .completing, .contested: false
        }
    }

    /// How far the case is on its way, for what comes too early or too late.
    var place: Int {
        switch self {
        case .held: 0
        case .identityRequired: 1
        case .inReview, .contested: 2
        case .approved: 3
        case .completing: 4
        case .completed, .disputed, .rejected, .cancelled, .expired: 5
        }
    }
}

/// Who makes something happen to a case.
enum CaseActor: String, Sendable, CaseIterable {
    case claimant, owner, reviewer
    /// The database's clock, by a durable timer.
    case clock
    /// Auth, which moves the account.
    case auth
}

/// What can happen to a case.
enum CaseEvent: String, Sendable, CaseIterable {
    /// The hold ran out.
    case holdEnded = "hold_ended"
    /// The claimant gave evidence of who they are.
    case evidenceGiven = "evidence_given"
    /// The owner, too, showed whose the account is.
    case ownerEvidenceGiven = "owner_evidence_given"
    /// One of two reviewers said yes.
    case partlyApproved = "partly_approved"
    case approved, rejected
    /// The owner said no, and that ends it.
    case disputed
    /// The owner said no to a claimant who has shown what a stranger cannot.
    case contested
    /// The claimant took the claim back.
    case withdrawn
    /// Nobody did for fourteen days what was theirs to do.
    case neglected
    /// The claimant proved the number once more, and auth is asked to move the account.
    case completionBegun = "completion_begun"
    /// Auth did not move it.
    case completionRefused = "completion_refused"
    case completed
    /// Auth moves the account for this case no more: another case did, or this one is over there.
    case voided

    /// The first place on the way at which it can happen; `nil` for what is never too early.
    var earliestPlace: Int? {
        switch self {
        case .evidenceGiven: CaseStatus.identityRequired.place
        case .ownerEvidenceGiven, .partlyApproved, .approved, .rejected: CaseStatus.inReview.place
        case .completionBegun: CaseStatus.approved.place
        case .completionRefused, .completed: CaseStatus.completing.place
        case .holdEnded, .disputed, .contested, .withdrawn, .neglected, .voided: nil
        }
    }
}

/// What a transition does beside the new status, in its transaction.
enum CaseEffect: String, Sendable, CaseIterable {
    /// Every device of the owner hears of it.
    case ownerTold
    /// Auth lifts what was frozen for the case.
    case freezeLifted
    /// The claimant's number is barred from the account.
    case claimantBarred
}
