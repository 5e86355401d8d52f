/// The true status of a case, and the status that its claimant sees.
///
/// The claimant must not learn whether the owner disputed, or whether there is an account at all. So after a dispute
/// the claimant sees a shadow status. It moves by the same table, but has no effects. A decoy has only a shadow.
///
/// In a shadow, the clock takes the decisions of reviewers and owner (``DecoyOutcome``). So a decoy can show everything
/// that a real case shows, except the account itself.
struct CaseLife: Sendable, Equatable {
    var status: CaseStatus
    /// The status that the claimant sees; `nil` if it is the true one.
    var shadow: CaseStatus?
    /// Whether there is no account, or the claimant is barred from it.
    var isDecoy: Bool

    /// The status that the claimant sees.
    var seen: CaseStatus { shadow ?? status }
    /// Whether the clock, and no reviewer, decides what the claimant sees next.
    var isDecidedByClock: Bool { isDecoy || status.isClosed && shadow != nil }

    enum Step: Sendable, Equatable {
        case moves(CaseLife, Set<CaseEffect>)
        case alreadyDone
        case refused(CaseRefusal)
    }

    /// The next status and shadow after an event, or why the event is refused.
    func after(_ event: CaseEvent, by actor: CaseActor) -> Step {
        switch actor {
        case .claimant, .clock: isDecidedByClock ? movingShadow(event, by: actor) : movingBoth(event, by: actor)
        case .auth: isDecidedByClock ? movingShadow(event, by: actor) : movingStatus(event, by: actor)
        case .owner, .reviewer: isDecoy ? .refused(.notTheirs) : movingStatus(event, by: actor)
        }
    }

    /// The status that the claimant sees after a dispute, a contest, or a refusal by auth. An approved case looks
    /// rejected, or in review again after a contest. Any other case looks unchanged.
    ///
    /// - Returns: `nil` for other events, after which the claimant sees the next status.
    private static func shown(_ seen: CaseStatus, after event: CaseEvent) -> CaseStatus? {
        let wasApproved = seen == .approved || seen == .completing
        return switch event {
        case .disputed, .voided: wasApproved ? .rejected : seen
        case .contested: wasApproved ? .inReview : seen
        default: nil
        }
    }

    /// Moves only the shadow, without effects. The clock acts in place of the reviewers and the owner. It completes no
    /// case.
    private func movingShadow(_ event: CaseEvent, by actor: CaseActor) -> Step {
        let actor: CaseActor =
            switch (actor, event) {
            case (.clock, .approved), (.clock, .rejected): .reviewer
            case (.clock, .disputed), (.clock, .contested): .owner
            default: actor
            }
        guard event != .completed else { return .refused(.notTheirs) }
        switch CaseStateMachine.outcome(of: event, by: actor, in: seen) {
        case .moves(let status, _):
            let next = Self.shown(seen, after: event) ?? status
            var life = self
            if isDecoy { life.status = next } else { life.shadow = next }
            return .moves(life, [])
        case .alreadyDone: return .alreadyDone
        case .refused(let refusal): return .refused(refusal)
        }
    }

    /// Handles an event of the claimant or the clock. If there is a shadow, both the shadow and the true status move.
    private func movingBoth(_ event: CaseEvent, by actor: CaseActor) -> Step {
        guard let shadow else { return movingStatus(event, by: actor) }
        switch CaseStateMachine.outcome(of: event, by: actor, in: shadow) {
        case .moves(let next, _):
            guard case .moves(var life, let effects) = movingStatus(event, by: actor) else { return .refused(.tooLate) }
            if !life.status.isClosed { life.shadow = next }
            return .moves(life, effects)
        case .alreadyDone: return .alreadyDone
        case .refused(let refusal): return .refused(refusal)
        }
    }

    private func movingStatus(_ event: CaseEvent, by actor: CaseActor) -> Step {
        // Reviewers decide a contested case like any other: after the hold, and once the claimant has given evidence.
        if actor == .reviewer, status == .contested, shadow != .inReview { return .refused(.tooEarly) }
        switch CaseStateMachine.outcome(of: event, by: actor, in: status) {
        case .moves(let next, let effects):
            var life = self
            life.status = next
            if let shown = Self.shown(seen, after: event) {
                life.shadow = shown
            } else if next != .contested {
                life.shadow = nil
            }
            return .moves(life, effects)
        case .alreadyDone: return .alreadyDone
        case .refused(let refusal): return .refused(refusal)
        }
    }
}
