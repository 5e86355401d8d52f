import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

/// A bar and the limits hold for a person under any mailbox and any name of the account.
@Suite("who is barred") struct BarTests {
    private static let accountNames = [RecoveryStage.accountPhone, RecoveryStage.formerPhone]

    @Loop private func isDecoy(_ claim: RecoveryRequested, _ recovery: RecoveryStage) async throws -> Bool {
        try await recovery.stage.rows("SELECT is_decoy FROM cases WHERE id = '\(claim.recoveryId)'") == "t"
    }

    /// Whether a new claim opens nothing.
    @Loop private func isDecoy(
        of phone: String = RecoveryStage.accountPhone, by claimant: String, _ recovery: RecoveryStage
    ) async throws -> Bool {
        try await isDecoy(try await recovery.claim(phone, claimant: claimant), recovery)
    }

    @Loop private func outcome(
        _ phone: String, by claimant: String, _ recovery: RecoveryStage
    ) async throws -> String {
        do {
            return try await recovery.claim(phone, claimant: claimant).status
        } catch let error as BusError {
            return error.code
        }
    }

    /// Ends the days in which a rejected claimant may not ask again.
    @Loop private func cool(_ recovery: RecoveryStage) async throws {
        try await recovery.age(.seconds(8 * 86_400))
        try await recovery.stage.rows("UPDATE cases SET seen_closed_at = seen_closed_at - interval '8 days'")
    }

    /// A contested case that reviewers decide against its claimant.
    @Loop private func bar(_ proof: String, _ recovery: RecoveryStage) async throws {
        recovery.auth.facts.proof = proof
        let claim = try await recovery.claimInReview("yes")
        _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner)
        try await recovery.reject(claim)
    }

    @Test(
        "another mailbox with the same proof stays barred",
        arguments: ["device", "linked_identity"], accountNames)
    func proofs(proof: String, name: String) async throws {
        try await RecoveryStage.run { recovery in
            (recovery.auth.facts.mailbox, recovery.auth.facts.proofs) = ("m1", ["p1"])
            try await bar(proof, recovery)
            try await cool(recovery)
            (recovery.auth.facts.mailbox, recovery.auth.facts.proofs) = ("m2", ["p2", "p1"])
            let again = try await recovery.claim(name, claimant: "000002")
            #expect(try await isDecoy(again, recovery))
            #expect(try await recovery.look(again).status == "held", "nothing of it is seen")
            (recovery.auth.facts.mailbox, recovery.auth.facts.proofs) = ("m3", ["p3"])
            #expect(try await !isDecoy(of: name, by: "000003", recovery), "somebody else")
        }
    }

    @Test func anotherSpellingOfTheMailboxStaysBarred() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.mailbox = "m1"
            let first = try await recovery.claim()
            _ = try await recovery.dispute(first.recoveryId, as: recovery.owner)
            #expect(try await isDecoy(by: "000002", recovery))
        }
    }

    /// The claimant may be the owner, and whoever disputed a thief with the telephone.
    @Test func aDisputeBarsNoDevice() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proofs = ["p1"]
            let first = try await recovery.claim()
            _ = try await recovery.dispute(first.recoveryId, as: recovery.owner)
            recovery.auth.facts.proof = "device"
            #expect(try await !isDecoy(by: "000002", recovery))
        }
    }

    /// With an account and without, the answers are the same.
    @Test(
        "a claimant is counted by proof, not by the mailbox alone",
        arguments: [RecoveryStage.accountPhone, RecoveryStage.unknownPhone])
    func counted(phone: String) async throws {
        try await RecoveryStage.run(perPhone: 2) { recovery in
            recovery.auth.facts.proofs = ["p1"]
            var seen: [String] = []
            for claimant in 1...3 { seen.append(try await outcome(phone, by: "00000\(claimant)", recovery)) }
            recovery.auth.facts.proofs = []
            seen.append(try await outcome(phone, by: "000004", recovery))
            #expect(seen == ["held", "held", "rate_limited", "held"])
        }
    }

    /// A family has one phone. Whoever claims another account from it is another person.
    @Test func claimsOfOtherAccountsFromTheSameDeviceAreNotCounted() async throws {
        try await RecoveryStage.run(perPhone: 2) { recovery in
            recovery.auth.facts.proofs = ["p1"]
            for claimant in 1...2 { _ = try await recovery.claim(claimant: "00000\(claimant)") }
            #expect(try await outcome(RecoveryStage.unknownPhone, by: "000003", recovery) == "held")
            #expect(try await outcome(RecoveryStage.accountPhone, by: "000003", recovery) == "rate_limited")
        }
    }

    @Test(
        "a rejected claimant waits under any other mailbox, too",
        arguments: [RecoveryStage.accountPhone, RecoveryStage.unknownPhone])
    func cooling(phone: String) async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proofs = ["p1"]
            let first = try await recovery.claim(phone)
            try await recovery.stage.rows(
                "UPDATE cases SET status = 'rejected', closed_at = now(), seen_closed_at = now()")
            #expect(try await outcome(phone, by: "000002", recovery) == "rate_limited")
            // By another name, the answer is that of a claim that nobody rejected.
            let other = try await recovery.claim(RecoveryStage.formerPhone, claimant: "000002")
            #expect(try await isDecoy(other, recovery) == (phone == RecoveryStage.accountPhone))
            let holds = (try await recovery.look(first).holdUntil, try await recovery.look(other).holdUntil)
            #expect(holds.1 - holds.0 < .seconds(60), "a week would show it")
        }
    }

    @Test func aClaimantWithADeviceHasOneOpenCaseAgainstAnAccount() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proofs = ["p1"]
            let (first, second) = (try await recovery.claim(), try await recovery.claim(claimant: "000002"))
            #expect(try await !isDecoy(first, recovery))
            #expect(try await isDecoy(second, recovery))
        }
    }

    /// A name that was not claimed before has the usual hold, so that nobody learns whose name it is.
    @Test func anAccountThatWasClaimedByItsOtherNamesIsDecidedLater() async throws {
        try await RecoveryStage.run { recovery in
            for claimant in 1...3 { _ = try await recovery.claim(claimant: "00001\(claimant)") }
            let claim = try await recovery.claim(RecoveryStage.formerPhone)
            let hold = "SELECT extract(epoch FROM hold_until - created_at)::bigint / 3600 FROM cases WHERE id = "
            #expect(try await recovery.stage.rows(hold + "'\(claim.recoveryId)'") == "72")
            let opened = try await recovery.opened.atLeast(4)[3]
            #expect(opened.caseID == claim.recoveryId && opened.holdUntil > .now() + .seconds(167 * 3600), "auth waits")
            try await recovery.endHolds()
            _ = try await recovery.give("yes", for: claim)
            try await recovery.untilJudged(claim.recoveryId)
            #expect(try await recovery.look(claim).status == "in_review")
            let queue = try await recovery.ask(ListReviews(), as: recovery.staff)
            #expect(!queue.cases.contains { $0.recoveryId == claim.recoveryId })
            let early = await #expect(throws: BusError.self) { try await recovery.approve(claim) }
            #expect(early?.code == "recovery_not_ready")
            try await recovery.stage.rows("UPDATE cases SET decided_from = now()")
            try await recovery.approve(claim)
            #expect(try await recovery.look(claim).status == "approved")
        }
    }
}
