import BusProtocol
import Foundation
import Testing

@testable import VestibuleCLI

@Suite("how a recovery is shown to an operator") struct RecoveryTextTests {
    private static let at = Timestamp("2026-02-20T09:00:00.5Z")!

    @Test func timesAreOfTheReadersZone() throws {
        let zone = try #require(TimeZone(secondsFromGMT: 3600))
        #expect(RecoveryText.time(Self.at, in: zone) == "2026-02-20 10:00:00 +01:00")
    }

    @Test func aPageHasTheWholeTrail() throws {
        let id = Identifier("019c2f00-0000-7000-8000-000000000004")!
        let page = ReviewPage(
            summary: ReviewSummary(
                recoveryId: id, status: "in_review", requestedAt: Self.at, holdUntil: Self.at, evidenceAt: Self.at,
                verdict: nil, proof: "device", approvals: 1, approvalsNeeded: 2, reviewer: nil, reviewerUntil: nil),
            reason: "My phone was stolen.\nstatus     approved \u{1B}[2J\u{202E}👩‍👧", evidence: "ver-1\r",
            trail: [
                .init(
                    sequence: 1, at: Self.at, act: "requested", details: ["status": "held", "by": "claimant"], hash: "")
            ], notes: [.init(at: Self.at, act: "partly_approved", reviewer: "operator anna", note: "It fits.")],
            notices: [.init(at: Self.at, about: "recovery_requested", delivered: 2, failed: 1)])
        let text = RecoveryText.page(page, in: try #require(TimeZone(secondsFromGMT: 0)))
        for part in [
            "in_review", "1 of 2", "reason     My phone was stolen. status     approved  [2J 👩‍👧\n",
            "ver-1  (not judged yet)", "has shown  device", "by=claimant status=held",
            "operator anna", "It fits.", "recovery_requested", "2026-02-20 09:00:00",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func anOperatorHasAName() throws {
        #expect(try OperatorName.given("anna") == "anna")
        for name in ["", "a b", String(repeating: "a", count: 65)] {
            #expect(throws: CommandError.self) { try OperatorName.given(name) }
        }
    }
}
