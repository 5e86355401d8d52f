/// One transition of a recovery case.
struct CaseTransition: Sendable, Equatable {
    let from: CaseStatus
    let event: CaseEvent
    let actor: CaseActor
    let to: CaseStatus
    let effects: Set<CaseEffect>

    init(_ from: CaseStatus, _ event: CaseEvent, _ actor: CaseActor, _ to: CaseStatus, _ effects: Set<CaseEffect> = [])
    {
        (self.from, self.event, self.actor, self.to, self.effects) = (from, event, actor, to, effects)
    }
}

/// Why an event is refused.
enum CaseRefusal: Sendable, Equatable {
    /// The event may be accepted later.
    case tooEarly
    case tooLate
    /// This actor may not cause the event.
    case notTheirs
}

/// The transitions of a recovery case: from status, event and actor to the next status and its effects. Nothing else
/// can happen to a case.
enum CaseStateMachine {
    enum Outcome: Equatable, Sendable {
        case moves(CaseStatus, Set<CaseEffect>)
        /// The event happened before. Nothing changes, and the reply is the same as the first time.
        case alreadyDone
        case refused(CaseRefusal)
    }

    static let table: [CaseTransition] = [
        .init(.held, .holdEnded, .clock, .identityRequired),
        .init(.held, .withdrawn, .claimant, .cancelled, [.ownerTold, .freezeLifted]),
        .init(.held, .disputed, .owner, .disputed, [.ownerTold, .freezeLifted, .claimantBarred]),
        .init(.held, .contested, .owner, .contested, [.ownerTold]),

        .init(.identityRequired, .evidenceGiven, .claimant, .inReview),
        .init(.identityRequired, .withdrawn, .claimant, .cancelled, [.ownerTold, .freezeLifted]),
        .init(.identityRequired, .disputed, .owner, .disputed, [.ownerTold, .freezeLifted, .claimantBarred]),
        .init(.identityRequired, .contested, .owner, .contested, [.ownerTold]),
        .init(.identityRequired, .neglected, .clock, .expired, [.ownerTold, .freezeLifted]),

        .init(.inReview, .partlyApproved, .reviewer, .inReview),
        .init(.inReview, .approved, .reviewer, .approved, [.ownerTold]),
        .init(.inReview, .rejected, .reviewer, .rejected, [.ownerTold, .freezeLifted]),
        .init(.inReview, .withdrawn, .claimant, .cancelled, [.ownerTold, .freezeLifted]),
        .init(.inReview, .disputed, .owner, .disputed, [.ownerTold, .freezeLifted, .claimantBarred]),
        .init(.inReview, .contested, .owner, .contested, [.ownerTold]),
        .init(.inReview, .neglected, .clock, .expired, [.ownerTold, .freezeLifted]),

        // Both sides give evidence and two reviewers decide. Another dispute changes nothing.
        .init(.contested, .holdEnded, .clock, .contested),
        .init(.contested, .evidenceGiven, .claimant, .contested),
        .init(.contested, .ownerEvidenceGiven, .owner, .contested),
        .init(.contested, .partlyApproved, .reviewer, .contested),
        .init(.contested, .approved, .reviewer, .approved, [.ownerTold]),
        .init(.contested, .rejected, .reviewer, .rejected, [.ownerTold, .freezeLifted, .claimantBarred]),
        .init(.contested, .withdrawn, .claimant, .cancelled, [.ownerTold, .freezeLifted]),
        .init(.contested, .neglected, .clock, .expired, [.ownerTold, .freezeLifted]),

        .init(.approved, .completionBegun, .claimant, .completing),
        .init(.approved, .withdrawn, .claimant, .cancelled, [.ownerTold, .freezeLifted]),
        .init(.approved, .disputed, .owner, .disputed, [.ownerTold, .freezeLifted, .claimantBarred]),
        .init(.approved, .contested, .owner, .contested, [.ownerTold]),
        .init(.approved, .neglected, .clock, .expired, [.ownerTold, .freezeLifted]),

        // From here on a dispute is too late. If auth's reply is lost, auth sends the result again.
        // Recovery does not notify the owner here, since auth has notified every device of the account.
        .init(.completing, .completed, .auth, .completed, [.freezeLifted]),
        .init(.completing, .completionRefused, .auth, .approved),

        // Recovery does not notify the owner here. Auth has told every device that the account was moved, and the
        // notice of a rejection would say that nothing has changed.
        .init(.held, .voided, .auth, .rejected, [.freezeLifted]),
        .init(.identityRequired, .voided, .auth, .rejected, [.freezeLifted]),
        .init(.inReview, .voided, .auth, .rejected, [.freezeLifted]),
        .init(.contested, .voided, .auth, .rejected, [.freezeLifted]),
        .init(.approved, .voided, .auth, .rejected, [.freezeLifted]),
        .init(.completing, .voided, .auth, .rejected, [.freezeLifted]),
    ]

    /// For each event, the statuses in which it has happened before, so that a repeat is harmless.
    private static let repeated: [CaseEvent: Set<CaseStatus>] = [
        .disputed: [.disputed, .contested], .contested: [.disputed, .contested], .withdrawn: [.cancelled],
        .evidenceGiven: [.inReview], .approved: [.approved], .rejected: [.rejected],
        .completed: [.completed],
        // A timer may fire after its case has moved on.
        .holdEnded: Set(CaseStatus.allCases).subtracting([.held, .contested]),
        .neglected: Set(CaseStatus.allCases).subtracting([.identityRequired, .inReview, .contested, .approved]),
    ]

    private struct Key: Hashable {
        let event: CaseEvent
        let status: CaseStatus
    }
    private static let lines = Dictionary(
        table.map { (Key(event: $0.event, status: $0.from), $0) }, uniquingKeysWith: { first, _ in first })
    /// The actor of each event.
    private static let actors = Dictionary(table.map { ($0.event, $0.actor) }, uniquingKeysWith: { first, _ in first })

    static func outcome(of event: CaseEvent, by actor: CaseActor, in status: CaseStatus) -> Outcome {
        guard actors[event] == actor else { return .refused(.notTheirs) }
        if let line = lines[Key(event: event, status: status)] { return .moves(line.to, line.effects) }
        if repeated[event]?.contains(status) == true { return .alreadyDone }
        return .refused(status.place < event.earliestPlace ?? 0 ? .tooEarly : .tooLate)
    }
}
