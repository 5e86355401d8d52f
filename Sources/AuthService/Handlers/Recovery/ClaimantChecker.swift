import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Checks that a code was sent to the claimant of a case.
struct ClaimantChecker: Sendable {
    let secrets: Secrets
    let checker: ChallengeChecker

    /// Uses up the code. The freeze of the case is locked already.
    ///
    /// - Throws: ``BusError`` `otp_expired` for a code of another contact or case, so that it reveals nothing.
    @Loop func check(
        _ id: Identifier, _ code: String, of caseID: Identifier, _ freeze: FreezeStore.Locked,
        in transaction: Transaction
    ) async throws -> ChallengeChecker.Result {
        let result = try await checker.check(id, code, purpose: .recovery, .emailRecovery, in: transaction)
        guard case .passed(let challenge) = result else { return result }
        guard secrets.reference(of: challenge.contactHash) == freeze.claimantReference,
            try await isFor(caseID, of: freeze.accountReference, challenge, in: transaction)
        else { throw ChallengeChecker.expired }
        return result
    }

    /// Whether a challenge is for this case. The account and the case that the challenge names must match. If it names no
    /// case, its number must have no claim in another case.
    @Loop private func isFor(
        _ recovery: Identifier, of account: String, _ challenge: Challenge, in transaction: Transaction
    ) async throws -> Bool {
        let named = try await LinkStore.recovery(of: challenge.id, in: transaction)
        guard secrets.isOf(account, challenge, named.account) else { return false }
        if let named = named.caseID { return named == recovery }
        return try await !FreezeStore.hasOtherClaim(challenge.contactHash, but: recovery, in: transaction)
    }
}

/// Checks a claimant's new code for recovery. It does the same for a case without an account.
struct CheckClaimantHandler: RequestHandler {
    let inbox: Inbox
    let secrets: Secrets
    let claimants: ClaimantChecker

    func handle(_ request: CheckClaimant, context: RequestContext) async throws -> ClaimantChecked {
        try await inbox.once(context) { transaction in
            // The person's advisory lock comes first, as where the account is moved.
            let person = try await FreezeStore.person(of: request.caseID, in: transaction)
            if let person { Erasure.wait(for: person, in: transaction) }
            guard
                let freeze = try await FreezeStore.locked(
                    request.caseID, secrets.freezeSealer, in: transaction)
            else { throw ApplyRecoveryHandler.closed }
            let result = try await claimants.check(
                request.challengeID, request.code, of: request.caseID, freeze, in: transaction)
            switch result {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge): return .reply(ClaimantChecked(at: challenge.now))
            }
        }
    }
}
