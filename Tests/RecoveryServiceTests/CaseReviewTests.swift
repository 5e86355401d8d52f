import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import RecoveryService

@Suite("evidence and case review") struct CaseReviewTests {
    @Test("the policy allows only the right reviewer's approval")
    func policy() throws {
        typealias Refusal = CaseReviewPolicy.Refusal
        var policy = CaseReviewPolicy(reviewer: "a", firstApproval: nil, needsTwo: false, verdict: "yes")
        #expect(try policy.approval(by: "a") == .approved)
        #expect(throws: Refusal.claimedByAnother) { try policy.approval(by: "b") }
        policy.verdict = "undecided"
        #expect(try policy.approval(by: "a") == .approved)
        for verdict in ["no", nil] {
            policy.verdict = verdict
            #expect(throws: Refusal.noEvidence) { try policy.approval(by: "a") }
            #expect(throws: Never.self) { try policy.mayDecide("a") }
        }
        policy = CaseReviewPolicy(reviewer: nil, firstApproval: nil, needsTwo: true, verdict: "yes")
        #expect(throws: Refusal.notClaimed) { try policy.approval(by: "a") }
        policy.reviewer = "a"
        #expect(try policy.approval(by: "a") == .partlyApproved)
        policy.firstApproval = "a"
        #expect(throws: Refusal.sameReviewer) { try policy.approval(by: "a") }
        policy.reviewer = "b"
        #expect(try policy.approval(by: "b") == .approved)
        // One operator under two names.
        policy.firstApprovalKey = "key 1"
        #expect(throws: Refusal.sameReviewer) { try policy.approval(by: "b", key: "key 1") }
        #expect(throws: Refusal.sameReviewer) { try policy.mayClaim("b", key: "key 1") }
        #expect(try policy.approval(by: "b", key: "key 2") == .approved)
        #expect(try policy.approval(by: "b") == .approved, "a reviewer has no key")
        // An approval from before the owner contested no longer counts, whatever the previous release stored of it.
        policy.firstApproval = nil
        #expect(try policy.approval(by: "b", key: "key 1") == .partlyApproved)
        (policy.firstApproval, policy.firstApprovalKey) = ("a", nil)
        #expect(try policy.approval(by: "b", key: "key 1") == .approved)
    }

    @Test func eachOfThreeFactsRequiresTwoApprovals() {
        func needed(_ staff: Bool, _ contested: Bool, _ disputed: Bool) -> Int64 {
            CaseReviewPolicy.approvalsNeeded(isOfStaff: staff, wasContested: contested, wasDisputed: disputed)
        }
        #expect(needed(false, false, false) == 1)
        #expect(needed(true, false, false) == 2 && needed(false, true, false) == 2 && needed(false, false, true) == 2)
    }

    @Test func aDecoyIsDecidedAboutAsFastAsTheOthers() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let first = DecoyDelay.seconds(like: [], by: generator.next())
            #expect(21_600..<172_800 ~= first)
            let later = DecoyDelay.seconds(like: [1000, 50_000], by: generator.next())
            #expect(900...1100 ~= later || 45_000...55_000 ~= later)
        }
        #expect(DecoyDelay.seconds(like: [0], by: .max) == 1)
    }

    @Test func evidenceIsAcceptedAfterTheHoldAndJudged() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            let early = await #expect(throws: BusError.self) { try await recovery.give("yes-1", for: claim) }
            #expect(early?.code == "recovery_not_ready" && early?.retryAfterMs ?? 0 > 259_000_000)
            try await recovery.endHolds()
            for _ in 0..<2 { #expect(try await recovery.give("yes-1", for: claim) == "in_review") }
            #expect(try await recovery.look(claim).status == "in_review")
            try await recovery.untilJudged(claim.recoveryId)
            let page = try await recovery.page(of: claim.recoveryId)
            #expect(page.summary.verdict == "yes" && page.evidence == "yes-1")
            #expect(
                page.trail.map(\.act) == ["requested", "hold_ended", "evidence_given", "evidence_judged"])
            // The look is in the reviewer's own trail, under a pseudonym.
            let looks = "chain <> 'service' AND details::jsonb ->> 'case' = '\(claim.recoveryId)'"
            #expect(
                try await recovery.stage.rows("SELECT count(*) > 0 FROM audit WHERE act = 'evidence_seen' AND \(looks)")
                    == "t")
            #expect(
                try await recovery.stage.rows("SELECT count(*) FROM cases WHERE evidence_sealed IS NOT NULL") == "1")
        }
    }

    /// The owner hears that there is a reason, and never which: who wrote it may be a thief.
    @Test func aReasonIsForTheReviewersWhileTheCaseIsOpen() async throws {
        try await RecoveryStage.run { recovery in
            let kept = "SELECT count(reason_sealed) FROM cases"
            let silent = try await recovery.claim(claimant: "000002", reason: "")
            #expect(try await recovery.page(of: silent.recoveryId).reason == nil)
            for phone in [RecoveryStage.unknownPhone, RecoveryStage.accountPhone] {
                #expect(try await recovery.stage.rows(kept) == "0", "a decoy keeps none")
                _ = try await recovery.claim(phone, claimant: "000003", reason: "My phone was stolen. 🐻")
            }
            let id = try #require(
                Identifier(try await recovery.stage.rows("SELECT id FROM cases WHERE reason_sealed IS NOT NULL")))
            #expect(try await recovery.page(of: id).reason == "My phone was stolen. 🐻")
            let own = try await recovery.gateway.call(ListOwnCases(), recovery.options(recovery.owner))
            let export = try await recovery.gateway.call(ExportCases(after: nil), recovery.options(recovery.owner))
            #expect(own.cases.count == 2 && !"\(own) \(export)".contains("stolen"))
            let said = try export.records.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["kind"] == "case" }
            #expect(Set(said.map { $0["hasClaimantReason"] }) == [true, false])
            _ = try await recovery.dispute(id, as: recovery.owner)
            #expect(try await recovery.page(of: id).reason == nil)
            #expect(try await recovery.stage.rows(kept) == "0")
        }
    }

    /// Where the first answer was lost, the reason comes with the request that is sent again.
    @Test func aReasonIsErasedWithTheAccountAndNotAddedToAClosedCase() async throws {
        try await RecoveryStage.run { recovery in
            for isOver in [true, false] {
                let request = RequestRecovery(
                    accountPhone: RecoveryStage.accountPhone, challengeId: .ordered(), code: "00000\(isOver ? 1 : 2)",
                    device: DeviceClaim(name: "Pixel 9", platform: "android"), reason: "It broke.")
                let options = recovery.options(key: "the-key-\(request.challengeId)")
                let claim = try await patiently { try await recovery.gateway.call(request, options) }
                let forget = "DELETE FROM inbox; UPDATE cases SET reason_sealed = NULL"
                try await recovery.stage.rows(forget)
                if isOver { _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner) }
                let again = try await patiently { try await recovery.gateway.call(request, options) }
                #expect(again.recoveryId == claim.recoveryId)
                #expect(try await recovery.page(of: claim.recoveryId).reason == (isOver ? nil : "It broke."))
            }
            let deleted = AccountDeleted(personID: recovery.owner, personSequence: 1, deletedAt: .now())
            var rules = AccountDeleted.rules
            rules.service = .recovery
            _ = try await recovery.stage.asking(as: .auth).callRaw(
                type: AccountDeleted.type, version: 1, rules: rules, body: try WireJSON.encode(deleted),
                recovery.options())
            #expect(try await recovery.stage.rows("SELECT count(*), count(reason_sealed) FROM cases") == "2|0")
        }
    }

    @Test func theQueueIsOldestFirstAndWithoutDecoys() async throws {
        try await RecoveryStage.run { recovery in
            var claims: [RecoveryRequested] = []
            for number in 1...3 { claims.append(try await recovery.claim(claimant: "00000\(number)")) }
            let decoy = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000009")
            try await recovery.endHolds()
            for claim in [claims[1], decoy, claims[2], claims[0]] { _ = try await recovery.give("yes", for: claim) }
            let queue = try await recovery.ask(ListReviews(), as: recovery.staff)
            #expect(queue.cases.map(\.recoveryId) == [claims[1], claims[2], claims[0]].map(\.recoveryId))
            let error = await #expect(throws: BusError.self) {
                try await recovery.ask(GetReview(recoveryId: decoy.recoveryId), as: recovery.staff)
            }
            #expect(error?.code == "not_found")
        }
    }

    @Test func onlyStaffSeesAndDecidesCases() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claimInReview("undecided")
            let options = recovery.options(recovery.staff, role: .user)
            let id = claim.recoveryId
            let list = await #expect(throws: BusError.self) {
                try await recovery.gateway.call(ListReviews(), options)
            }
            let page = await #expect(throws: BusError.self) {
                try await recovery.gateway.call(GetReview(recoveryId: id), options)
            }
            let claimed = await #expect(throws: BusError.self) {
                try await recovery.gateway.call(ClaimReview(recoveryId: id), options)
            }
            #expect([list, page, claimed].allSatisfy { $0?.code == "unauthorized" })
        }
    }

    @Test func aReviewerWhoHasTheCaseApproves() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claimInReview("yes-1")
            let id = claim.recoveryId
            let taken = try await recovery.ask(ClaimReview(recoveryId: id), as: recovery.staff)
            #expect(taken.reviewer != nil && taken.reviewer?.contains(recovery.staff.description) == false)
            let other = await #expect(throws: BusError.self) {
                try await recovery.ask(ClaimReview(recoveryId: id), as: .random())
            }
            #expect(other?.code == "review_claimed")
            let approved = try await recovery.ask(ApproveCase(recoveryId: id, note: "It fits."), as: recovery.staff)
            #expect(approved.status == "approved" && approved.approvals == 1 && approved.reviewer == nil)
            #expect(try await recovery.look(claim).status == "approved")
            let page = try await recovery.page(of: id)
            #expect(page.notes.map(\.note) == ["It fits."] && page.trail.last?.details["reviewer"] == taken.reviewer)
            let told = try await recovery.notified.atLeast(2)[1]
            #expect(told.kind == "recovery_approved")
            // It can be stopped still.
            #expect(try await recovery.dispute(id, token: told.data["disputeToken"]).status == "disputed")
            #expect(try await recovery.look(claim).status == "rejected")
            #expect(try await recovery.page(of: id).evidence == nil, "evidence goes with the case")
        }
    }

    @Test func aRejectionCoolsTheClaimantOffForAWeek() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claimInReview("undecided")
            _ = try await recovery.ask(ClaimReview(recoveryId: claim.recoveryId), as: recovery.staff)
            _ = try await recovery.ask(
                RejectCase(recoveryId: claim.recoveryId, note: "Another face."), as: recovery.staff)
            #expect(try await recovery.look(claim).status == "rejected")
            #expect(try await recovery.closed.atLeast(1)[0].outcome == "rejected")
            let again = await #expect(throws: BusError.self) { try await recovery.claim() }
            #expect(again?.code == "rate_limited" && again?.retryAfterMs ?? 0 > 600_000_000)
            try await recovery.stage.rows("UPDATE cases SET seen_closed_at = seen_closed_at - interval '7 days'")
            #expect(try await recovery.claim().status == "held")
        }
    }

    @Test("a case of weight needs two reviewers", arguments: ["staff", "dispute", "contest"])
    func twoReviewers(why: String) async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.isStaff = why == "staff"
            if why == "dispute" {
                let before = try await recovery.claim(claimant: "000008")
                _ = try await recovery.dispute(before.recoveryId, as: recovery.owner)
            }
            if why == "contest" { recovery.auth.facts.proof = "device" }
            let claim = try await recovery.claimInReview("yes")
            let id = claim.recoveryId
            if why == "contest" {
                #expect(try await recovery.dispute(id, as: recovery.owner).status == "contested")
            }
            _ = try await recovery.ask(ClaimReview(recoveryId: id), as: recovery.staff)
            let first = try await recovery.ask(ApproveCase(recoveryId: id, note: "Yes."), as: recovery.staff)
            #expect(first.approvals == 1 && first.approvalsNeeded == 2 && first.status != "approved")
            #expect(try await recovery.look(claim).status == "in_review")
            let same = await #expect(throws: BusError.self) {
                try await recovery.ask(ClaimReview(recoveryId: id), as: recovery.staff)
            }
            #expect(same?.code == "forbidden")
            let second = Identifier.random()
            _ = try await recovery.ask(ClaimReview(recoveryId: id), as: second)
            let approved = try await recovery.ask(ApproveCase(recoveryId: id, note: "Yes, too."), as: second)
            #expect(approved.status == "approved" && approved.approvals == 2)
            #expect(try await recovery.look(claim).status == "approved")
            let count = ["staff": 2, "dispute": 4, "contest": 3][why] ?? 0
            let told = try await recovery.notified.atLeast(count)[count - 1]
            #expect(told.kind == "recovery_approved")
            #expect((told.data["disputeToken"] != nil) == (why != "contest"))
            guard why == "contest" else { return }
            // What reviewers decided over both sides, one side does not undo.
            let late = await #expect(throws: BusError.self) { try await recovery.dispute(id, as: recovery.owner) }
            #expect(late?.code == "recovery_closed")
        }
    }

    /// A reviewer who approved before the owner contested has heard one side only.
    @Test func anApprovalFromBeforeTheContestDoesNotCount() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.isStaff = true
            recovery.auth.facts.proof = "device"
            let id = try await recovery.claimInReview("yes").recoveryId
            func approve(as reviewer: Identifier) async throws -> ApproveCase.Reply {
                _ = try await recovery.ask(ClaimReview(recoveryId: id), as: reviewer)
                return try await recovery.ask(ApproveCase(recoveryId: id, note: "Yes."), as: reviewer)
            }
            #expect(try await approve(as: recovery.staff).approvals == 1)
            #expect(try await recovery.dispute(id, as: recovery.owner).status == "contested")
            let (second, third) = (Identifier.random(), Identifier.random())
            let heard = try await approve(as: second)
            #expect(heard.status == "contested" && heard.approvals == 1)
            // Saying no again is none of another kind.
            #expect(try await recovery.dispute(id, as: recovery.owner).status == "contested")
            #expect(try await approve(as: third).status == "approved")
        }
    }

    @Test func neitherTheOwnerNorAnEndedSessionMayReview() async throws {
        try await RecoveryStage.run { recovery in
            let id = try await recovery.claimInReview("yes").recoveryId
            let own = await #expect(throws: BusError.self) {
                try await recovery.ask(ClaimReview(recoveryId: id), as: recovery.owner)
            }
            #expect(own?.code == "forbidden")
            recovery.bearers.isActive = false
            let ended = await #expect(throws: BusError.self) {
                try await recovery.ask(ClaimReview(recoveryId: id), as: recovery.staff)
            }
            #expect(ended?.code == "unauthorized")
            #expect(try await recovery.stage.rows("SELECT count(reviewer) FROM cases") == "0")
        }
    }

    @Test func aDecisionNeedsAValidStaffToken() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claimInReview("yes")
            let id = claim.recoveryId
            let actor = Actor(userID: recovery.staff, sessionID: .ordered(), role: .staff)
            let others = [
                Actor(userID: .random(), sessionID: actor.sessionID, role: .staff),
                Actor(userID: actor.userID, sessionID: .ordered(), role: .staff),
                Actor(userID: actor.userID, sessionID: actor.sessionID, role: .user),
            ]
            @Loop func code<Request: BusRequest>(of request: Request, _ token: String?) async throws -> String {
                var options = recovery.options()
                (options.actor, options.accessToken) = (actor, token)
                do {
                    _ = try await recovery.gateway.call(request, options)
                    return "done"
                } catch {
                    return error.code
                }
            }
            let (good, claiming) = (Bearers.token(of: actor), ClaimReview(recoveryId: id))
            let (releasing, rejecting) = (ReleaseReview(recoveryId: id), RejectCase(recoveryId: id, note: "No."))
            let approving = ApproveCase(recoveryId: id, note: "Yes.")
            for token in [nil, "x"] + others.map({ Bearers.token(of: $0) }) {
                #expect(try await code(of: claiming, token) == "unauthorized")
                #expect(try await code(of: releasing, token) == "unauthorized")
                #expect(try await code(of: approving, token) == "unauthorized")
                #expect(try await code(of: rejecting, token) == "unauthorized")
            }
            #expect(try await recovery.stage.rows("SELECT count(reviewer), count(decided_at) FROM cases") == "0|0")
            for _ in 0..<2 {
                #expect(try await code(of: claiming, good) == "done")
                #expect(try await code(of: releasing, good) == "done")
            }
            #expect(try await code(of: claiming, good) == "done")
            #expect(try await code(of: approving, good) == "done")
        }
    }

    @Test func aReviewersClaimOnACaseExpires() async throws {
        try await RecoveryStage.run { recovery in
            let id = try await recovery.claimInReview("yes").recoveryId
            _ = try await recovery.ask(ClaimReview(recoveryId: id), as: recovery.staff)
            try await recovery.stage.rows("UPDATE cases SET reviewer_until = now()")
            let late = await #expect(throws: BusError.self) {
                try await recovery.ask(ApproveCase(recoveryId: id, note: "Yes."), as: recovery.staff)
            }
            #expect(late?.code == "review_not_claimed")
            #expect(try await recovery.ask(ClaimReview(recoveryId: id), as: .random()).reviewer != nil)
        }
    }

    @Test func aNeglectedCaseExpires() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            let decoy = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000002")
            try await recovery.endHolds()
            try await recovery.age(.seconds(RecoveryPolicy.patience))
            try await recovery.fire(CaseWorkflow.neglectTimer)
            let (a, b) = (try await recovery.look(claim), try await recovery.look(decoy))
            #expect(a.status == "expired" && b.status == "expired" && a.steps == b.steps)
            // The decoy is closed for auth too, so that its claimant's number is free again.
            #expect(try await recovery.closed.atLeast(2).map(\.outcome) == ["expired", "expired"])
            #expect(try await recovery.notified.atLeast(2).map(\.kind) == ["recovery_requested", "recovery_expired"])
        }
    }

    /// What a claimant sees over a whole life, of cases with an account that are rejected and disputed, and of decoys.
    @Test(.timed) func realAndDecoyCasesLookTheSameUntilTheEnd() async throws {
        let count = Rounds.count(30, prove: 500)
        try await RecoveryStage.run(perAddress: 100_000) { recovery in
            struct Life {
                let kind: String
                let phone: String
                let code: String
                let claim: RecoveryRequested
                var story: [String] = []
                var course = ["held", "identity_required", "in_review"]

                @Loop mutating func look(_ recovery: RecoveryStage) async throws {
                    let status = try await recovery.look(claim).status
                    if status != course.last { course.append(status) }
                }
            }
            var lives: [Life] = []
            var times: [String: [Duration]] = [:]
            for number in 0..<count {
                for (kind, phone, code) in [
                    ("real", RecoveryStage.accountPhone, 100_000 + number),
                    ("disputed", RecoveryStage.accountPhone, 200_000 + number),
                    ("decoy", RecoveryStage.unknownPhone, 300_000 + number),
                ] {
                    let start = ContinuousClock.now
                    let claim = try await recovery.claim(phone, claimant: "\(code)")
                    times[kind, default: []].append(ContinuousClock.now - start)
                    lives.append(Life(kind: kind, phone: phone, code: "\(code)", claim: claim))
                    if kind == "disputed" { _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner) }
                }
            }
            try await recovery.endHolds()
            for (index, life) in lives.enumerated() {
                lives[index].story = try await recovery.beginning(of: life.claim, life.phone, by: life.code)
            }
            // One in eight is approved, and disputed then.
            for (index, life) in lives.enumerated() where life.kind == "real" {
                guard index % 24 == 0 else {
                    try await recovery.reject(life.claim)
                    continue
                }
                try await recovery.untilJudged(life.claim.recoveryId)
                try await recovery.stage.rows("UPDATE cases SET verdict = 'yes' WHERE id = '\(life.claim.recoveryId)'")
                // Where a dispute came before, two must approve.
                for reviewer in [recovery.staff, .random()] { try await recovery.approve(life.claim, as: reviewer) }
                try await lives[index].look(recovery)
                _ = try await recovery.dispute(life.claim.recoveryId, as: recovery.owner)
            }
            while try await recovery.areDecoysOpen() {
                try await recovery.fire(CaseWorkflow.decoyTimer)
                for index in lives.indices { try await lives[index].look(recovery) }
            }
            // Not every course is drawn each time: CaseRulesTests has them all.
            let decoys = Courses(of: CaseLife(status: .held, shadow: nil, isDecoy: true))
            for life in lives where !decoys.show(life.course) { Issue.record("\(life.kind): \(life.course)") }
            #expect(lives.contains { $0.kind == "real" && $0.course.contains("approved") })
            for (index, life) in lives.enumerated() {
                lives[index].story += try await recovery.end(of: life.claim, life.phone, by: life.code)
            }
            let expected = [
                "after the hold: identity_required", "again: recovery_in_progress", "evidence: in_review",
                "seen: in_review", "decided: rejected", "again: rate_limited", "cancel: recovery_closed",
            ]
            for life in lives where life.story != expected { Issue.record("\(life.kind): \(life.story)") }
            let medians = times.mapValues { $0.sorted()[$0.count / 2] }
            let (real, decoy) = (try #require(medians["real"]), try #require(medians["decoy"]))
            // The difference is what an owner is told, within one transaction.
            #expect(max(real, decoy) < min(real, decoy) * 2, .time("\(real) and \(decoy)"))
            print("claims: real \(real), decoy \(decoy) (medians of \(count))")
        }
    }
}
