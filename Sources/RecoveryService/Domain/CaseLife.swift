/// A case as it is, beside what its claimant is shown of it.
///
/// Whether the owner said no, and whether there is an account at all, must not be told from outside. So what was disputed goes
/// on, for its claimant, in a shadow that moves by the same table and does nothing; and a decoy is nothing but a shadow. In a
/// shadow the clock does what reviewers and an owner do elsewhere (``DecoyCourse``): whatever can be seen of a real case short
/// of the account itself, a decoy can show.
struct CaseLife: Sendable, Equatable {
    var status: CaseStatus
    /// What the claimant is shown where that is no longer the status.
    var shadow: CaseStatus?
    /// There is no account, or the claimant is barred from it.
    var isDecoy: Bool

    /// What the claimant is shown.
    var seen: CaseStatus { shadow ?? status }
    /// No reviewer decides what the claimant is shown next: the clock does.
    var isDecidedByClock: Bool { isDecoy || status.isClosed && shadow != nil }

    enum Step: Sendable, Equatable {
        case moves(CaseLife, Set<CaseEffect>)
        case alreadyDone
        case refused(CaseRefusal)
    }

    /// What becomes of the case, and of what is seen of it.
    func after(_ event: CaseEvent, by actor: CaseActor) -> Step {
        switch actor {
        case .claimant, .clock: isDecidedByClock ? inShadow(event, by: actor) : withShadow(event, by: actor)
        case .auth: isDecidedByClock ? inShadow(event, by: actor) : inTruth(event, by: actor)
        case .owner, .reviewer: isDecoy ? .refused(.notTheirs) : inTruth(event, by: actor)
        }
    }

    /// What the claimant is shown after a no of the owner's or of auth's: no more than that the case waits as before, or that
    /// an approval did not hold. `nil`: the next status, whatever happens else.
    private static func shown(_ seen: CaseStatus, after event: CaseEvent) -> CaseStatus? {
        let wasApproved = seen == .approved || seen == .completing
        return switch event {
        case .disputed, .voided: wasApproved ? .rejected : seen
        case .contested: wasApproved ? .inReview : seen
        default: nil
        }
    }

    /// Only what is seen moves, and nothing comes of it. The clock speaks in the place of whoever decides; nobody completes.
    private func inShadow(_ event: CaseEvent, by actor: CaseActor) -> Step {
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

    /// The claimant acts upon what is seen; where that is not the truth any more, both move.
    private func withShadow(_ event: CaseEvent, by actor: CaseActor) -> Step {
        guard let shadow else { return inTruth(event, by: actor) }
        switch CaseStateMachine.outcome(of: event, by: actor, in: shadow) {
        case .moves(let next, _):
            guard case .moves(var life, let effects) = inTruth(event, by: actor) else { return .refused(.tooLate) }
            if !life.status.isClosed { life.shadow = next }
            return .moves(life, effects)
        case .alreadyDone: return .alreadyDone
        case .refused(let refusal): return .refused(refusal)
        }
    }

    private func inTruth(_ event: CaseEvent, by actor: CaseActor) -> Step {
        // A contested case is decided as any other: after the hold, upon the claimant's evidence.
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
