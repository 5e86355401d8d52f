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

    @Test func anAnswerThatIsNoLongerKeptSaysNothingOfTheAccount() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.approvedClaim()
            recovery.mover.refusal = BusError(.idempotencyAnswerGone, "This request was done.")
            let gone = await #expect(throws: BusError.self) { try await recovery.complete(claim) }
            #expect(gone?.code == "idempotency_answer_gone")
            #expect(try await recovery.look(claim).status == "completing", "auth says that it was not moved")
            recovery.mover.isApplied = true
            try await recovery.fire(CaseStore.completionTimer)
            #expect(try await recovery.look(claim).status == "completed")
        }
    }

    @Test("an answer that was lost", arguments: [true, false])
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
                try await recovery.fire(CaseStore.completionTimer)
                #expect(try await recovery.look(claim).status == "completing")
                try await recovery.stage.rows("UPDATE cases SET attempt_at = attempt_at - interval '30 s'")
            }
            try await recovery.fire(CaseStore.completionTimer)
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
