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
}

/// What can happen to a case.
enum CaseEvent: Sendable, CaseIterable {
    /// The hold ran out by the database's clock.
    case holdEnded
    /// The owner said no.
    case disputed
    /// The claimant took the claim back.
    case withdrawn
}

/// The table of a case's life: status and event to the next status.
enum CaseStateMachine {
    enum Outcome: Equatable, Sendable {
        case becomes(CaseStatus)
        /// It happened before: nothing changes, and the answer is as the first time.
        case alreadyDone
        /// Too late or too early for that.
        case refused
    }

    static func outcome(of event: CaseEvent, in status: CaseStatus) -> Outcome {
        switch (status, event) {
        case (.held, .holdEnded): .becomes(.identityRequired)
        case (_, .holdEnded): .alreadyDone
        case (.held, .disputed), (.identityRequired, .disputed), (.inReview, .disputed), (.approved, .disputed):
            .becomes(.disputed)
        case (.disputed, .disputed): .alreadyDone
        // From `completing` on a dispute is too late; a contested case is decided by reviewers.
        case (.completing, .disputed), (.completed, .disputed), (.contested, .disputed), (.rejected, .disputed),
            (.cancelled, .disputed), (.expired, .disputed):
            .refused
        case (.held, .withdrawn), (.identityRequired, .withdrawn), (.inReview, .withdrawn), (.approved, .withdrawn),
            (.contested, .withdrawn):
            .becomes(.cancelled)
        // The claimant knows of no dispute: there is nothing left to take back, and that is not said.
        case (.cancelled, .withdrawn), (.disputed, .withdrawn): .alreadyDone
        case (.completing, .withdrawn), (.completed, .withdrawn), (.rejected, .withdrawn), (.expired, .withdrawn):
            .refused
        }
    }
}
