import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

@Suite("completing a recovery") struct CompletionTests {
    @Test func movesTheAccountAndEndsTheCaseOnce() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.approvedClaim()
            let challenge = Identifier.ordered()
            let first = try await recovery.complete(claim, challenge: challenge, key: "the-key-of-completing")
            let again = try await recovery.complete(claim, challenge: challenge, key: "the-key-of-completing")
            #expect(first == again && first.user.id == recovery.owner)
            #expect(try await recovery.look(claim).status == "completed")
            #expect(try await recovery.closed.atLeast(1).map(\.outcome) == ["completed"])
            let other = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(other?.code == "recovery_closed" && recovery.mover.applied == 1)
            let late = await #expect(throws: BusError.self) {
                try await recovery.dispute(claim.recoveryId, as: recovery.owner)
            }
            #expect(late?.code == "recovery_closed")
        }
    }

    /// Two claims are both approved. The first to complete gets the account, and the other cannot move it again.
    @Test("a completed case ends every other open case", arguments: ["held", "in_review", "contested", "approved"])
    func others(status: String) async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proof = status == "contested" ? "device" : nil
            let first = try await recovery.approvedClaim()
            let second =
                switch status {
                case "held": try await recovery.claim(claimant: "000002")
                case "approved": try await recovery.approvedClaim(claimant: "000002")
                default: try await recovery.claimInReview("yes", claimant: "000002")
                }
            if status == "contested" { _ = try await recovery.dispute(second.recoveryId, as: recovery.owner) }
            let before = try await recovery.look(second)
            #expect(
                try await recovery.stage.rows(
                    "SELECT status FROM cases WHERE id = '\(second.recoveryId)'") == status)
            _ = try await recovery.complete(first)
            let late = await #expect(throws: BusError.self) { try await recovery.complete(second) }
            #expect(recovery.mover.applied == 1)
            #expect(
                try await recovery.stage.rows("SELECT status FROM cases WHERE id = '\(second.recoveryId)'")
                    == "rejected")
            #expect(
                Set(try await recovery.closed.atLeast(2).map { "\($0.caseID) \($0.outcome)" })
                    == ["\(first.recoveryId) completed", "\(second.recoveryId) rejected"])
            // The claimant sees the same status as before, and later what any other claimant sees.
            if status == "approved" {
                #expect(late?.code == "recovery_closed")
            } else {
                #expect(late?.code == "recovery_not_ready")
                #expect(try await recovery.look(second).steps == before.steps)
                if status == "held" {
                    try await recovery.endHolds()
                    _ = try await recovery.give("yes", for: second)
                }
                try await recovery.decideDecoys()
            }
            #expect(try await recovery.look(second).status == "rejected")
            // A claim that comes later is one of its own.
            let third = try await recovery.claim(claimant: "000003")
            #expect(try await recovery.dispute(third.recoveryId, as: recovery.owner).status != "recovery_closed")
            let told = recovery.notified.heard.map(\.kind)
            #expect(!told.contains("recovery_rejected"), "its owner would hear that nothing has changed")
        }
    }

    /// The claimant completes a decoy that is shown as approved, or a disputed case. Auth checks the code, and then
    /// says that the case is over.
    @Test("completing a decoy or a disputed case ends as a rejection", arguments: ["decoy", "disputed"])
    func shadows(kind: String) async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim(
                kind == "decoy" ? RecoveryStage.unknownPhone : RecoveryStage.accountPhone)
            if kind == "disputed" { _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner) }
            try await recovery.endHolds()
            _ = try await recovery.give("yes", for: claim)
            let early = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(early?.code == "recovery_not_ready")
            try await recovery.stage.rows(
                kind == "decoy" ? "UPDATE cases SET status = 'approved'" : "UPDATE cases SET shadow = 'approved'")
            #expect(try await recovery.look(claim).status == "approved")
            recovery.mover.refusal = BusError(.otpInvalid, "Code incorrect. 2 attempts remaining", executed: .yes)
            let wrong = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(wrong?.code == "otp_invalid")
            #expect(try await recovery.look(claim).status == "approved")
            recovery.mover.refusal = BusError(.deadlineExceeded, "No answer came in time.", executed: .unknown)
            _ = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(try await recovery.look(claim).status == "completing")
            try await recovery.stage.rows("UPDATE cases SET attempt_at = attempt_at - interval '30 s'")
            try await recovery.fire(CaseWorkflow.completionTimer)
            #expect(try await recovery.look(claim).status == "approved")
            recovery.mover.refusal = BusError(.recoveryClosed, "This recovery is over.", executed: .yes)
            for _ in 0..<2 {
                let over = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
                #expect(over?.code == "recovery_closed")
                #expect(try await recovery.look(claim).status == "rejected")
            }
            let status = try await recovery.stage.rows("SELECT status FROM cases")
            #expect(status == (kind == "decoy" ? "rejected" : "disputed"))
        }
    }

    /// The same of a decoy, which a stranger must not tell from a claim.
    @Test("an early completion is refused with what it waits for", arguments: ["claim", "decoy"])
    func tooEarly(kind: String) async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim(
                kind == "decoy" ? RecoveryStage.unknownPhone : RecoveryStage.accountPhone)
            func refusal() async throws -> BusError {
                let error = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
                #expect(error?.code == "recovery_not_ready")
                return try #require(error)
            }
            let held = try await refusal()
            #expect(held.detail == "This recovery is not approved yet. Please come back later.")
            let left = try await recovery.look(claim).remainingSeconds
            #expect(abs((held.retryAfterMs ?? 0) / 1000 - left) <= 5)
            try await recovery.endHolds()
            let ended = try await refusal()
            #expect(ended.detail == "Please send your evidence first." && ended.retryAfterMs == 1000)
            _ = try await recovery.give("yes", for: claim)
            let given = try await refusal()
            #expect(given.detail == "Your evidence is in review. Please come back later.")
            #expect(given.retryAfterMs == 3_600_000)
        }
    }

    @Test func wantsTheTokenTheDeviceAndAnApproval() async throws {
        try await RecoveryStage.run { recovery in
            var claim = try await recovery.claimInReview("yes")
            let early = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(early?.code == "recovery_not_ready")
            try await recovery.approve(claim)
            let (token, secret) = (claim.recoveryToken, claim.deviceSecret)
            (claim.deviceSecret, claim.recoveryToken) = (nil, token)
            let device = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            (claim.deviceSecret, claim.recoveryToken) = (secret, "rt_guess")
            let guess = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(device?.code == "unauthorized" && guess?.code == "unauthorized")
            #expect(recovery.mover.applied == 0)
        }
    }

    @Test func aWrongCodeLeavesItApproved() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.approvedClaim()
            recovery.mover.refusal = BusError(.otpInvalid, "Code incorrect. 2 attempts remaining", executed: .yes)
            let wrong = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(wrong?.code == "otp_invalid")
            #expect(try await recovery.look(claim).status == "approved")
            recovery.mover.refusal = nil
            #expect(try await recovery.complete(claim).user.id == recovery.owner)
        }
    }

    @Test func anExpiredReplyLeavesTheCompletionToTheTimer() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.approvedClaim()
            recovery.mover.refusal = BusError(.idempotencyAnswerGone, "This request was done.")
            let gone = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(gone?.code == "idempotency_answer_gone")
            #expect(try await recovery.look(claim).status == "completing", "auth says that it was not moved")
            recovery.mover.isApplied = true
            try await recovery.fire(CaseWorkflow.completionTimer)
            #expect(try await recovery.look(claim).status == "completed")
        }
    }

    @Test("a timer resolves a completion whose reply was lost", arguments: [true, false])
    func lostAnswer(wasApplied: Bool) async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.approvedClaim()
            recovery.mover.refusal = BusError(.deadlineExceeded, "No answer came in time.", executed: .unknown)
            _ = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(try await recovery.look(claim).status == "completing")
            let dispute = await #expect(throws: BusError.self) {
                try await recovery.dispute(claim.recoveryId, as: recovery.owner)
            }
            #expect(dispute?.code == "recovery_closed")
            let second = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(second?.code == "request_in_progress")
            recovery.mover.refusal = nil
            recovery.mover.isApplied = wasApplied
            if !wasApplied {
                // Too young an attempt may be on its way still.
                try await recovery.fire(CaseWorkflow.completionTimer)
                #expect(try await recovery.look(claim).status == "completing")
                try await recovery.stage.rows("UPDATE cases SET attempt_at = attempt_at - interval '30 s'")
            }
            try await recovery.fire(CaseWorkflow.completionTimer)
            #expect(try await recovery.look(claim).status == (wasApplied ? "completed" : "approved"))
        }
    }

    @Test func authsEventEndsItToo() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.approvedClaim()
            recovery.mover.refusal = BusError(.deadlineExceeded, "No answer came in time.", executed: .unknown)
            _ = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            let event = RecoveryApplied(
                personID: recovery.owner, personSequence: 1, caseID: claim.recoveryId, appliedAt: .now())
            for _ in 0..<2 { _ = try await recovery.stage.asking(as: .auth).call(event, recovery.options()) }
            #expect(try await recovery.look(claim).status == "completed")
            #expect(try await recovery.closed.atLeast(1).map(\.outcome) == ["completed"])
        }
    }
}
