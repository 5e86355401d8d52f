import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

/// Two requests for one case arrive at the same moment at two replicas. One of them wins, and all notices agree with
/// that.
@Suite("races have one winner") struct RaceTests {
    private static let rounds = Rounds.count(5, prove: 200)

    /// Does two things at once, in either order, and waits for both.
    @Loop private func race(
        _ first: @escaping @Loop @Sendable () async throws -> String,
        _ second: @escaping @Loop @Sendable () async throws -> String
    ) async throws -> (String, String) {
        func attempt(_ body: @escaping @Loop @Sendable () async throws -> String) -> Task<String, any Error> {
            Loop.spawn {
                do { return try await body() } catch let error as BusError { return error.code }
            }
        }
        let isFirst = Bool.random()
        let (a, b) = isFirst ? (attempt(first), attempt(second)) : (attempt(second), attempt(first))
        let (x, y) = (try await a.value, try await b.value)
        return isFirst ? (x, y) : (y, x)
    }

    @Loop private func status(_ claim: RecoveryRequested, _ recovery: RecoveryStage) async throws -> String {
        try await recovery.stage.rows("SELECT status FROM cases WHERE id = '\(claim.recoveryId)'")
    }

    /// Auth hears once that a case is over, and as what.
    @Loop private func expectClosed(_ claims: [(RecoveryRequested, String)], _ recovery: RecoveryStage) async throws {
        let over = claims.filter { CaseStatus(rawValue: $0.1)?.isClosed == true }
        try #require(try await eventually { Set(recovery.closed.heard.map(\.caseID)).count >= over.count })
        for (claim, status) in over {
            let told = Set(recovery.closed.heard.filter { $0.caseID == claim.recoveryId }.map(\.outcome))
            #expect(told == [status])
        }
    }

    @Test func disputeAgainstCompletion() async throws {
        try await RecoveryStage.run(replicas: 2) { recovery in
            var ended: [(RecoveryRequested, String)] = []
            for round in 0..<Self.rounds {
                let claim = try await recovery.approvedClaim(claimant: "\(100_000 + round)")
                let applied = recovery.mover.applied
                let (dispute, session) = try await race(
                    { try await recovery.dispute(claim.recoveryId, as: recovery.owner).status },
                    { try await recovery.complete(claim).user.id.description })
                let status = try await status(claim, recovery)
                if dispute == "disputed" {
                    #expect(session == "recovery_closed" && status == "disputed" && recovery.mover.applied == applied)
                } else {
                    #expect(dispute == "recovery_closed" && session == recovery.owner.description)
                    #expect(status == "completed" && recovery.mover.applied == applied + 1)
                }
                ended.append((claim, status))
            }
            try await expectClosed(ended, recovery)
        }
    }

    @Test func approvalAgainstDispute() async throws {
        try await RecoveryStage.run(replicas: 2) { recovery in
            for round in 0..<Self.rounds {
                let claim = try await recovery.claimInReview("yes", claimant: "\(200_000 + round)")
                // Where a dispute came before, two must approve.
                try await recovery.stage.rows("UPDATE cases SET status = 'expired' WHERE status = 'disputed'")
                _ = try await recovery.ask(ClaimReview(recoveryId: claim.recoveryId), as: recovery.staff)
                let (approved, disputed) = try await race(
                    {
                        try await recovery.ask(
                            ApproveCase(recoveryId: claim.recoveryId, note: "Yes."), as: recovery.staff
                        ).status
                    }, { try await recovery.dispute(claim.recoveryId, as: recovery.owner).status })
                // A dispute holds before and after the approval.
                #expect(disputed == "disputed" && ["approved", "recovery_closed"].contains(approved))
                #expect(try await status(claim, recovery) == "disputed")
            }
        }
    }

    @Test func twoReviewers() async throws {
        try await RecoveryStage.run(replicas: 2) { recovery in
            for round in 0..<Self.rounds {
                let claim = try await recovery.claimInReview("yes", claimant: "\(300_000 + round)")
                let id = claim.recoveryId
                let reviewers = [Identifier.random(), .random()]
                let (first, second) = try await race(
                    { try await recovery.ask(ClaimReview(recoveryId: id), as: reviewers[0]).status },
                    { try await recovery.ask(ClaimReview(recoveryId: id), as: reviewers[1]).status })
                #expect(Set([first, second]) == ["in_review", "review_claimed"])
                let winner = first == "in_review" ? reviewers[0] : reviewers[1]
                let (yes, no) = try await race(
                    { try await recovery.ask(ApproveCase(recoveryId: id, note: "Yes."), as: winner).status },
                    { try await recovery.ask(RejectCase(recoveryId: id, note: "No."), as: winner).status })
                let status = try await status(claim, recovery)
                #expect([yes, no].filter { $0 == status }.count == 1 && ["approved", "rejected"].contains(status))
                #expect(try await recovery.page(of: id).notes.count == 1)
            }
        }
    }

    @Test func twoClaimants() async throws {
        try await RecoveryStage.run(replicas: 2) { recovery in
            for round in 0..<Self.rounds {
                let code = "\(400_000 + round)"
                let (first, second) = try await race(
                    { try await recovery.claim(claimant: code).status },
                    { try await recovery.claim(claimant: code).status })
                #expect(Set([first, second]) == ["held", "recovery_in_progress"], "of one number")
                let (a, b) = try await race(
                    { try await recovery.claim(claimant: "\(500_000 + round)").status },
                    { try await recovery.claim(claimant: "\(600_000 + round)").status })
                #expect(a == "held" && b == "held", "nobody is kept out by another")
            }
            let open = "SELECT count(*) FROM cases WHERE seen_closed_at IS NULL"
            #expect(try await recovery.stage.rows(open) == "\(3 * Self.rounds)")
        }
    }

    @Test func completionTwice() async throws {
        try await RecoveryStage.run(replicas: 2) { recovery in
            for round in 0..<Self.rounds {
                let claim = try await recovery.approvedClaim(claimant: "\(700_000 + round)")
                let applied = recovery.mover.applied
                let (first, second) = try await race(
                    { try await recovery.complete(claim).user.id.description },
                    { try await recovery.complete(claim).user.id.description })
                let lost = [first, second].filter { $0 != recovery.owner.description }
                #expect(lost == ["request_in_progress"] || lost == ["recovery_closed"])
                #expect(recovery.mover.applied == applied + 1)
                #expect(try await status(claim, recovery) == "completed")
            }
        }
    }

    @Test func timerAgainstWithdrawal() async throws {
        try await RecoveryStage.run(replicas: 2) { recovery in
            var ended: [(RecoveryRequested, String)] = []
            for round in 0..<Self.rounds {
                let claim = try await recovery.claim(claimant: "\(800_000 + round)")
                try await recovery.stage.rows("UPDATE cases SET hold_until = now() WHERE id = '\(claim.recoveryId)'")
                let (_, cancelled) = try await race(
                    {
                        try await recovery.fire(CaseWorkflow.holdTimer)
                        return ""
                    }, { try await recovery.cancel(claim).status })
                #expect(cancelled == "cancelled")
                let status = try await status(claim, recovery)
                #expect(status == "cancelled")
                ended.append((claim, status))
            }
            try await expectClosed(ended, recovery)
        }
    }
}
