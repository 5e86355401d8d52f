/// The status of a recovery case.
enum CaseStatus: String, Sendable, CaseIterable {
    case held
    case identityRequired = "identity_required"
    case inReview = "in_review"
    case approved, completing, completed, disputed, contested, rejected, cancelled, expired

    /// Whether the case has ended.
    var isClosed: Bool {
        switch self {
        case .completed, .disputed, .rejected, .cancelled, .expired: true
        case .held, .identityRequired, .inReview, .approved, .completing, .contested: false
        }
    }

    /// Whether nobody looks at the evidence any more. An owner who contests an approved case sends new evidence.
    var needsNoEvidence: Bool { self == .approved || isClosed }

    /// How far the case has come. It tells whether an event is too early or too late.
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

/// The party that causes an event of a case.
enum CaseActor: String, Sendable, CaseIterable {
    case claimant, owner, reviewer
    /// The database's clock, by a durable timer.
    case clock
    /// Auth, which moves the account.
    case auth
}

/// The events of a case.
enum CaseEvent: String, Sendable, CaseIterable {
    /// The hold ended.
    case holdEnded = "hold_ended"
    /// The claimant gave evidence of who they are.
    case evidenceGiven = "evidence_given"
    /// The owner gave evidence that the account is theirs.
    case ownerEvidenceGiven = "owner_evidence_given"
    /// The first of two reviewers approved.
    case partlyApproved = "partly_approved"
    case approved, rejected
    /// The owner disputed, which ends the case.
    case disputed
    /// The owner disputed, but the claimant has given a proof that no stranger could have. Reviewers decide.
    case contested
    /// The claimant withdrew the claim.
    case withdrawn
    /// The person whose turn it was did nothing for fourteen days.
    case neglected
    /// The claimant proved the number again, and auth was asked to move the account.
    case completionBegun = "completion_begun"
    /// Auth did not move the account.
    case completionRefused = "completion_refused"
    case completed
    /// Auth will not move the account for this case: it has moved for another case, or auth has closed this one.
    case voided

    /// The first `place` of a case at which the event can happen; `nil` if it is never too early.
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

/// The effects of a transition. They happen in the transaction that sets the new status.
enum CaseEffect: String, Sendable, CaseIterable {
    /// Recovery notifies every device of the owner.
    case ownerTold
    /// Auth lifts the freeze of the account for the case.
    case freezeLifted
    /// Bars the claimant from the account: by the number or mailbox, and by the proof that the claim showed.
    case claimantBarred
}
