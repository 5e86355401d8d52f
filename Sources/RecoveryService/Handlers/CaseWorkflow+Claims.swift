import BusProtocol
import Database
import EventLoop
import ServiceRuntime

/// Turns a claim into a case.
extension CaseWorkflow {
    /// The result of a claim that auth began.
    enum Claim: Sendable {
        case made(RecoveryCase)
        /// The claimant already has an open case against the account.
        case alreadyOpen
        /// The claimant has had the most cases that are allowed in 30 days, or reviewers of this account rejected them
        /// lately. The wait is the number of seconds until they may ask again.
        case tooMany(wait: Int64)
    }

    /// Creates the case that auth began, sets its timer and notifies the owner. A second call returns the same case. If
    /// it creates no case, it tells auth to lift the freeze.
    @Loop func ensure(
        _ begun: RecoveryBegun, origin: ClientOrigin?, in transaction: Transaction
    ) async throws -> Claim {
        // The account's advisory lock comes first, as in the handler of auth's event. In another order, the two
        // transactions could deadlock.
        if let account = begun.accountID { Erasure.wait(for: account, in: transaction) }
        if let known = try await CaseStore.locked(begun.caseID, in: transaction) { return .made(known) }
        CaseStore.waitForTurn(ofClaimant: begun, in: transaction)
        var begun = begun
        if let account = begun.accountID, try await Erasure.isErased(account, in: transaction) {
            begun.accountID = nil
        }
        let history = try await CaseStore.history(of: begun, in: transaction)
        switch policy.decision(on: begun, after: history) {
        case .tooMany(let wait):
            try await close(
                begun.accountID, case: begun.caseID, outcome: .cancelled, at: .now(), claimantWaits: false,
                in: transaction)
            return .tooMany(wait: wait)
        case .made(let isDecoy, let hold, let decidedAfter):
            return try await make(
                begun, isDecoy: isDecoy, hold: hold, decidedAfter: decidedAfter, origin: origin, in: transaction)
        }
    }

    @Loop private func make(
        _ begun: RecoveryBegun, isDecoy: Bool, hold: Int64, decidedAfter: Int64?, origin: ClientOrigin?,
        in transaction: Transaction
    ) async throws -> Claim {
        let facts = ClaimFacts(
            phone: begun.maskedClaimantPhone, platform: begun.platform,
            hasRecentSignIn: begun.hasRecentSignIn ?? false)
        let made = try await CaseStore.insert(
            begun, isDecoy: isDecoy, hold: hold, decidedAfter: decidedAfter, origin: origin,
            facts: try notifier.seal(facts, of: begun.caseID), in: transaction)
        guard let made else {
            // Auth's event and the claimant's request arrived together, and the other one has created the case.
            if let known = try await CaseStore.locked(behindItsTurn: begun.caseID, in: transaction) {
                return .made(known)
            }
            // The claimant has another open case against the account.
            try await close(
                begun.accountID, case: begun.caseID, outcome: .cancelled, at: .now(),
                claimantWaits: false, in: transaction)
            return .alreadyOpen
        }
        note("requested", by: .claimant, made.life, of: made, in: transaction)
        setTimer(Self.holdTimer, of: made, at: made.holdUntil, in: transaction)
        if isDecoy {
            // A barred claimant must not keep the account frozen.
            if begun.accountID != nil {
                try await close(
                    begun.accountID, case: made.id, outcome: .cancelled, at: made.now, claimantWaits: true,
                    in: transaction)
            }
        } else if let account = begun.accountID {
            try await outbox.publish(
                CaseOpened(personID: account, caseID: made.id, holdUntil: made.decidedFrom ?? made.holdUntil),
                in: transaction)
            try await notifier.begin(made, of: account, in: transaction)
        }
        return .made(made)
    }
}
