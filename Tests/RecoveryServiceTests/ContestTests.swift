import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

@Suite("disputes of proven claimants, and the recovery lock") struct ContestTests {
    @Test(
        "each dispute has its effect",
        arguments: [
            (false, false, false, CaseStatus.held, CaseEvent?.some(.disputed)),
            (true, false, false, .held, .contested), (true, false, true, .held, .disputed),
            (true, true, false, .contested, .contested), (true, true, false, .approved, nil),
            (false, false, true, .approved, .disputed),
        ])
    func policy(hasProof: Bool, was: Bool, lately: Bool, status: CaseStatus, event: CaseEvent?) {
        #expect(
            DisputePolicy.event(hasProof: hasProof, wasContested: was, wasContestedLately: lately, in: status) == event)
    }

    @Test func aProvenClaimantIsNotStoppedByOneSide() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proof = "former_number"
            let claim = try await recovery.claim()
            let before = try await recovery.look(claim)
            for _ in 0..<2 {
                let disputed = try await recovery.dispute(claim.recoveryId, as: recovery.owner)
                #expect(disputed.status == "contested")
            }
            // Frozen as before, not barred, and the claimant sees nothing of it.
            let after = try await recovery.look(claim)
            #expect(after.status == before.status && after.steps == before.steps)
            #expect(try await recovery.stage.rows("SELECT count(*) FROM bars") == "0")
            #expect(try await recovery.notified.atLeast(2).map(\.kind) == ["recovery_requested", "recovery_contested"])
            let shown = try await recovery.gateway.call(ListOwnCases(), recovery.options(recovery.owner))
            #expect(shown.cases.map(\.status) == ["contested"] && recovery.closed.heard.isEmpty)

            // Within 90 days after reviewers decided a contest, another one is an ordinary dispute. A claimant with a
            // proof is not barred for it.
            try await recovery.stage.rows("UPDATE cases SET decided_at = now()")
            let second = try await recovery.claim(claimant: "000002")
            #expect(try await recovery.dispute(second.recoveryId, as: recovery.owner).status == "disputed")
            #expect(try await recovery.stage.rows("SELECT count(*) FROM bars") == "0")
            try await recovery.stage.rows("UPDATE cases SET contested_at = contested_at - interval '90 days'")
            let third = try await recovery.claim(claimant: "000003")
            #expect(try await recovery.dispute(third.recoveryId, as: recovery.owner).status == "contested")
            _ = try await recovery.cancel(claim)
            #expect(try await recovery.closed.atLeast(2).map(\.outcome) == ["disputed", "cancelled"])
        }
    }

    /// A thief with the phone claims the account and contests that claim. As reviewers have not decided on it, the
    /// owner's own claim can still be contested.
    @Test(
        "an undecided contest does not count as a contest",
        arguments: ["open", "taken back", "expired", "approved before it"])
    func undecided(_ end: String) async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proof = "device"
            let thief = try await recovery.claimInReview("yes", claimant: "000002")
            if end == "approved before it" { try await recovery.approve(thief) }
            #expect(try await recovery.dispute(thief.recoveryId, as: recovery.owner).status == "contested")
            if end == "taken back" { _ = try await recovery.cancel(thief) }
            if end == "expired" {
                try await recovery.age(.seconds(2 * RecoveryPolicy.patience))
                try await recovery.fire(CaseWorkflow.neglectTimer)
                #expect(try await recovery.look(thief).status == "expired")
            }
            let claim = try await recovery.claim()
            #expect(try await recovery.dispute(claim.recoveryId, as: recovery.owner).status == "contested")
            guard end == "open" else { return }
            try await recovery.reject(thief)
            let third = try await recovery.claim(claimant: "000003")
            #expect(try await recovery.dispute(third.recoveryId, as: recovery.owner).status == "disputed")
        }
    }

    @Test func bothSidesGiveEvidenceOfAContestedCase() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proof = "device"
            let claim = try await recovery.claimInReview("yes-1")
            let id = claim.recoveryId
            func give(_ reference: String, as person: Identifier) async throws -> String {
                let evidence = SubmitOwnerEvidence(recoveryId: id, evidenceReference: reference)
                do {
                    return try await recovery.gateway.call(evidence, recovery.options(person)).status
                } catch {
                    return error.code
                }
            }
            #expect(try await give("mine-0", as: recovery.owner) == "recovery_not_ready", "nobody asked")
            _ = try await recovery.dispute(id, as: recovery.owner)
            #expect(try await give("mine-0", as: .random()) == "not_found")
            for number in 1...12 {
                #expect(try await give("mine-\(number)", as: recovery.owner) == "contested")
            }
            let page = try await recovery.page(of: id)
            #expect(page.evidence == "yes-1" && page.ownerEvidence == "mine-12" && page.summary.approvalsNeeded == 2)
            // Neither who was first is talked over, nor who was last.
            #expect(page.earlierOwnerEvidence == [1, 2, 3, 4, 7, 8, 9, 10, 11].map { "mine-\($0)" })
            #expect(try await recovery.look(claim).status == "in_review", "the claimant sees nothing of it")
            try await recovery.reject(claim)
            let closed = try await recovery.page(of: id)
            #expect(closed.ownerEvidence == nil && closed.earlierOwnerEvidence == [], "it goes with the case")
            #expect(try await give("mine-3", as: recovery.owner) == "recovery_closed")
            let sealed = "SELECT count(owner_evidence_sealed) + sum(cardinality(owner_evidence_earlier)) FROM cases"
            #expect(try await recovery.stage.rows(sealed) == "0")
        }
    }

    /// Reviewers heard both sides and rejected the claimant, who gets no second case.
    @Test func aClaimantRejectedInAContestedCaseIsBarred() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proof = "former_number"
            let claim = try await recovery.claimInReview("yes")
            _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner)
            try await recovery.reject(claim)
            #expect(try await recovery.look(claim).status == "rejected")
            let bars = "SELECT count(*) FROM bars WHERE until > now() + interval '29 days'"
            #expect(try await recovery.stage.rows(bars) == "1")
            // After the days in which nobody asks again, the claim is a decoy.
            try await recovery.age(.seconds(8 * 86_400))
            try await recovery.stage.rows("UPDATE cases SET seen_closed_at = seen_closed_at - interval '8 days'")
            let again = try await recovery.claim()
            #expect(try await recovery.look(again).status == "held")
            #expect(
                try await recovery.stage.rows("SELECT is_decoy FROM cases WHERE id = '\(again.recoveryId)'") == "t")
        }
    }

    private static let now = Timestamp("2026-02-20T09:00:00Z")!
    private static let end = now + .seconds(86_400)

    @Test(
        "each switch of a lock has its result, or needs a sign-in",
        arguments: [
            (.off, true, true, .on), (.off, true, false, nil), (.off, false, false, .off), (.on, true, false, .on),
            (.on, false, true, .ending(end)), (.on, false, false, nil),
            (.ending(now + .seconds(60)), true, false, .on),
            (.ending(now + .seconds(60)), false, true, .ending(now + .seconds(60))),
        ] as [(RecoveryLockState, Bool, Bool, RecoveryLockState?)])
    func lockPolicy(lock: RecoveryLockState, isWanted: Bool, isFresh: Bool, becomes: RecoveryLockState?) {
        #expect((try? lock.switched(isWanted, isFresh: isFresh, now: Self.now)) == becomes)
    }

    @Test func aLockNeedsAFreshSignInAndCanBeKeptByADevice() async throws {
        try await RecoveryStage.run { recovery in
            func set(_ isOn: Bool) async throws(BusError) -> RecoveryLock {
                try await recovery.gateway.call(SetRecoveryLock(enabled: isOn), recovery.options(recovery.owner))
            }
            func refusal(_ isOn: Bool) async -> String? {
                await #expect(throws: BusError.self) { try await set(isOn) }?.code
            }
            // A token that was stolen an hour after the sign-in.
            recovery.bearers.isFresh = false
            #expect(await refusal(true) == "reauthentication_required")
            recovery.bearers.isFresh = true
            #expect(try await set(true) == RecoveryLock(enabled: true))
            recovery.bearers.isFresh = false
            #expect(await refusal(false) == "reauthentication_required")
            recovery.bearers.isFresh = true
            let ending = try await set(false)
            let isADayLater = "SELECT ends_at BETWEEN now() + interval '23:59' AND now() + interval '1 day' FROM locks"
            #expect(ending.enabled && ending.endsAt != nil)
            #expect(try await recovery.stage.rows(isADayLater) == "t")
            #expect(try await set(false) == ending, "asking again changes nothing")
            let shown = try await recovery.gateway.call(ListOwnCases(), recovery.options(recovery.owner))
            #expect(shown.lockEnabled && shown.lockEndsAt == ending.endsAt)
            let stranger = try await recovery.claim()
            #expect(try await recovery.closed.atLeast(1)[0].caseID == stranger.recoveryId, "it holds meanwhile")

            // Any session of the account keeps it, and none of nobody's.
            recovery.bearers.isFresh = false
            #expect(try await set(true) == RecoveryLock(enabled: true))
            recovery.bearers.isActive = false
            #expect(await refusal(true) == "unauthorized")
            let told = try await recovery.notified.atLeast(3)
            #expect(told.map(\.kind) == ["recovery_lock_on", "recovery_lock_off", "recovery_lock_on"])
            #expect(told[1].data["at"] == ending.endsAt?.description)
        }
    }

    /// The bus repeats a message whose answer was lost. Meanwhile another device has kept the lock.
    @Test func aSwitchThatIsSentAgainDoesNotUndoALaterOne() async throws {
        try await RecoveryStage.run { recovery in
            let (on, off) = (SetRecoveryLock(enabled: true), SetRecoveryLock(enabled: false))
            _ = try await recovery.gateway.call(on, recovery.options(recovery.owner))
            let options = recovery.options(recovery.owner)
            let ending = try await recovery.gateway.call(off, options)
            _ = try await recovery.gateway.call(on, recovery.options(recovery.owner))
            #expect(try await recovery.gateway.call(off, options) == ending, "its first answer again")
            let shown = try await recovery.gateway.call(ListOwnCases(), recovery.options(recovery.owner))
            #expect(shown.lockEnabled && shown.lockEndsAt == nil)
        }
    }

    @Test func aRecoveryLockAdmitsOnlyClaimantsWithProof() async throws {
        try await RecoveryStage.run { recovery in
            func set(_ isOn: Bool) async throws {
                _ = try await recovery.gateway.call(
                    SetRecoveryLock(enabled: isOn), recovery.options(recovery.owner))
            }
            for _ in 0..<2 { try await set(true) }
            let own = try await recovery.gateway.call(ListOwnCases(), recovery.options(recovery.owner))
            #expect(own.lockEnabled && own.cases.isEmpty)
            let stranger = try await recovery.claim()
            #expect(try await recovery.look(stranger).status == "held", "and cannot tell")
            #expect(try await recovery.closed.atLeast(1)[0].caseID == stranger.recoveryId)
            recovery.auth.facts.proof = "device"
            let proven = try await recovery.claim(claimant: "000002")
            #expect(try await recovery.opened.atLeast(1).map(\.caseID) == [proven.recoveryId])
            recovery.auth.facts.proof = nil
            try await set(false)
            try await recovery.stage.rows("UPDATE locks SET ends_at = now()")
            let ended = try await recovery.gateway.call(ListOwnCases(), recovery.options(recovery.owner))
            #expect(!ended.lockEnabled && ended.lockEndsAt == nil)
            let after = try await recovery.claim(claimant: "000003")
            #expect(try await recovery.opened.atLeast(2)[1].caseID == after.recoveryId)
            let kinds = try await recovery.notified.atLeast(4).map(\.kind)
            #expect(kinds == ["recovery_lock_on", "recovery_requested", "recovery_lock_off", "recovery_requested"])
            try await set(true)
            let isNew = "SELECT since > now() - interval '1 minute' AND ends_at IS NULL FROM locks"
            #expect(try await recovery.stage.rows(isNew) == "t")
        }
    }
}
