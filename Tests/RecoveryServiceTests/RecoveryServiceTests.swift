import BusProtocol
import BusRuntime
import Database
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

@Suite("the recovery service") struct RecoveryServiceTests {
    @Test func anOwnerIsNotifiedOfAClaim() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            #expect(requested.status == "held")
            let opened = try await recovery.opened.atLeast(1)
            #expect(opened[0].personID == recovery.owner && opened[0].holdUntil == requested.holdUntil)
            let told = try await recovery.notified.atLeast(1)
            #expect(told[0].kind == "recovery_requested" && told[0].personID == recovery.owner)
            #expect(told[0].data["recoveryId"] == requested.recoveryId.description)
            #expect(told[0].data["claimantPhone"] == "+46 (***) ***-4567" && told[0].data["disputeToken"] != nil)
            #expect(recovery.closed.heard.isEmpty)
        }
    }

    @Test func aLateEventMakesNoSecondCase() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            let event = RecoveryBegan(
                personID: recovery.owner, personSequence: 1,
                begun: RecoveryStage.begun(
                    case: requested.recoveryId, phone: RecoveryStage.accountPhone, claimant: "000001",
                    owner: recovery.owner))
            let auth = try recovery.stage.asking(as: .auth)
            for _ in 0..<2 { _ = try await auth.call(event, recovery.options()) }
            let rows = "SELECT (SELECT count(*) FROM cases), (SELECT count(*) FROM audit)"
            #expect(try await recovery.stage.rows(rows) == "1|1")
            #expect(try await recovery.look(requested).status == "held")
        }
    }

    /// Auth's event locks the account first and then the claimant. A claim that locks them in the other order would
    /// cause a deadlock.
    @Test func aClaimWaitingForTheAccountHoldsNoOtherLock() async throws {
        try await RecoveryStage.run { recovery in
            let database = recovery.stage.containers[0].database
            try await database.waitUntilAvailable()
            var seen = ""
            let claim = try await database.transaction { transaction in
                Erasure.wait(for: recovery.owner, in: transaction)
                _ = try await transaction.query("SELECT 1")
                let claim = Loop.spawn { try await recovery.claim() }
                let isWaiting = try await eventually {
                    seen = try await recovery.stage.rows(
                        """
                        WITH turns AS (
                            SELECT pid, granted FROM pg_locks WHERE locktype = 'advisory'
                                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                        )
                        SELECT count(*) FILTER (WHERE NOT granted),
                            count(*) FILTER (WHERE granted AND pid IN (SELECT pid FROM turns WHERE NOT granted))
                        FROM turns
                        """)
                    return seen.hasPrefix("1")
                }
                try #require(isWaiting)
                return claim
            }
            #expect(seen == "1|0")
            _ = try await claim.value
        }
    }

    @Test func anotherBodyUnderAKnownKeyNeverReachesAuth() async throws {
        try await RecoveryStage.run { recovery in
            let first = try await recovery.claim(key: "one-key-of-a-client")
            let error = await #expect(throws: BusError.self) {
                try await recovery.claim(claimant: "000009", key: "one-key-of-a-client")
            }
            #expect(error?.code == "idempotency_key_reused" && error?.executed == .no)
            #expect(try await recovery.stage.rows("SELECT id FROM cases") == first.recoveryId.description)
        }
    }

    @Test func aLostReplyLeavesACaseAndNotifiesItsOwner() async throws {
        try await RecoveryStage.run { recovery in
            let id = Identifier.ordered()
            let event = RecoveryBegan(
                personID: recovery.owner, personSequence: 1,
                begun: RecoveryStage.begun(
                    case: id, phone: RecoveryStage.accountPhone, claimant: "000001", owner: recovery.owner))
            _ = try await recovery.stage.asking(as: .auth).call(event, recovery.options())
            let token = try await recovery.notified.atLeast(1)[0].data["disputeToken"]
            #expect(try await recovery.dispute(id, token: token).status == "disputed")
        }
    }

    @Test func aClaimOnAnUnknownNumberLooksTheSame() async throws {
        try await RecoveryStage.run { recovery in
            let real = try await recovery.claim()
            let decoy = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000002")
            #expect(decoy.status == real.status && decoy.recoveryToken.count == real.recoveryToken.count)
            let (a, b) = (try await recovery.look(real), try await recovery.look(decoy))
            #expect(a.status == b.status && a.steps == b.steps)
            #expect(
                try await recovery.stage.rows("SELECT is_decoy FROM cases WHERE id = '\(decoy.recoveryId)'") == "t")
            _ = try await recovery.notified.atLeast(1)
            #expect(recovery.notified.heard.allSatisfy { $0.data["recoveryId"] == real.recoveryId.description })
            #expect(recovery.opened.heard.allSatisfy { $0.caseID == real.recoveryId })
        }
    }

    @Test func aDisputeIsNotifiedOnceAndHiddenFromTheClaimant() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            let before = try await recovery.look(requested)
            let token = try await recovery.notified.atLeast(1)[0].data["disputeToken"]
            for _ in 0..<2 {
                #expect(try await recovery.dispute(requested.recoveryId, token: token).status == "disputed")
                let owner = try await recovery.dispute(requested.recoveryId, as: recovery.owner)
                #expect(owner.status == "disputed")
            }
            let after = try await recovery.look(requested)
            #expect(after.status == before.status && after.steps == before.steps && after.holdUntil == before.holdUntil)
            let rows = "SELECT (SELECT count(*) FROM audit WHERE act = 'disputed'), (SELECT count(*) FROM bars)"
            #expect(try await recovery.stage.rows(rows) == "1|1")
            let closed = try await recovery.closed.atLeast(1)
            #expect(closed.map(\.outcome) == ["disputed"] && closed[0].caseID == requested.recoveryId)
            #expect(try await recovery.notified.atLeast(2).map(\.kind) == ["recovery_requested", "recovery_disputed"])
        }
    }

    @Test func aWithdrawnClaimUnfreezesTheAccount() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            for _ in 0..<2 { #expect(try await recovery.cancel(requested).status == "cancelled") }
            #expect(try await recovery.look(requested).status == "cancelled")
            let closed = try await recovery.closed.atLeast(1)
            #expect(closed.map(\.outcome) == ["cancelled"] && closed[0].caseID == requested.recoveryId)
            #expect(try await recovery.notified.atLeast(2).map(\.kind) == ["recovery_requested", "recovery_cancelled"])
            let trail = "SELECT string_agg(act, ' ' ORDER BY sequence) FROM audit"
            #expect(try await recovery.stage.rows(trail) == "requested withdrawn")
            let late = await #expect(throws: BusError.self) {
                try await recovery.dispute(requested.recoveryId, as: recovery.owner)
            }
            #expect(late?.code == "recovery_closed")
            // It may be asked for again.
            #expect(try await recovery.claim().recoveryId != requested.recoveryId)
        }
    }

    @Test func withdrawingADisputedClaimOrADecoyLooksTheSame() async throws {
        try await RecoveryStage.run { recovery in
            let real = try await recovery.claim(claimant: "000002")
            let disputed = try await recovery.claim()
            _ = try await recovery.dispute(disputed.recoveryId, as: recovery.owner)
            let decoy = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000003")
            var seen: [RecoveryCaseView] = []
            for claim in [real, disputed, decoy] {
                #expect(try await recovery.cancel(claim).status == "cancelled")
                seen.append(try await recovery.look(claim))
            }
            let barred = try await recovery.claim()
            for claim in [barred] {
                #expect(try await recovery.cancel(claim).status == "cancelled")
                seen.append(try await recovery.look(claim))
            }
            #expect(seen.allSatisfy { $0.status == "cancelled" && $0.steps == seen[0].steps })
            let rows = "SELECT status FROM cases WHERE id = '\(disputed.recoveryId)'"
            #expect(try await recovery.stage.rows(rows) == "disputed", "the owner's word stays")
            // Auth closes each case once its claimant knows the end. For the owner, it had closed the disputed case and
            // the barred one before.
            _ = try await recovery.closed.atLeast(6)
            #expect(Set(recovery.closed.heard.map { "\($0.outcome) \($0.caseID)" }).count == 4)
            #expect(recovery.closed.heard.count { $0.claimantWaits == true } == 2)
            #expect(recovery.notified.heard.count { $0.kind == "recovery_cancelled" } == 1)
        }
    }

    @Test func onlyTheClaimantMayWithdrawAClaim() async throws {
        try await RecoveryStage.run { recovery in
            var requested = try await recovery.claim()
            let other = try await recovery.claim(claimant: "000002")
            requested.recoveryToken = other.recoveryToken
            let error = await #expect(throws: BusError.self) { try await recovery.cancel(requested) }
            #expect(error?.code == "unauthorized")
            #expect(try await recovery.stage.rows("SELECT count(*) FROM cases WHERE status = 'held'") == "2")
        }
    }

    @Test func onlyTheOwnerMayDispute() async throws {
        try await RecoveryStage.run { recovery in
            let id = try await recovery.claim().recoveryId
            let decoy = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000002").recoveryId
            for id in [id, decoy, .ordered()] {
                let stranger = await #expect(throws: BusError.self) { try await recovery.dispute(id, as: .random()) }
                #expect(stranger?.code == "not_found")
                let guess = await #expect(throws: BusError.self) { try await recovery.dispute(id, token: "dt_guess") }
                #expect(guess?.code == "unauthorized")
                let nobody = await #expect(throws: BusError.self) { try await recovery.dispute(id) }
                #expect(nobody?.code == "unauthorized")
            }
            #expect(try await recovery.stage.rows("SELECT count(*) FROM cases WHERE status = 'held'") == "2")
        }
    }

    @Test func aDisputedClaimantIsBarredAndCannotTell() async throws {
        try await RecoveryStage.run { recovery in
            let first = try await recovery.claim()
            _ = try await recovery.dispute(first.recoveryId, as: recovery.owner)
            // As far as its claimant can tell, it is under way.
            let error = await #expect(throws: BusError.self) { try await recovery.claim() }
            #expect(error?.code == "recovery_in_progress")
            _ = try await recovery.cancel(first)
            let second = try await recovery.claim()
            #expect(second.status == "held" && second.recoveryId != first.recoveryId)
            #expect(try await recovery.look(second).status == "held")
            #expect(
                try await recovery.stage.rows("SELECT is_decoy FROM cases WHERE id = '\(second.recoveryId)'") == "t")
            // The account does not stay frozen for it, and its owner is left in peace.
            let closed = try await recovery.closed.atLeast(4)
            #expect(closed.map(\.outcome) == ["disputed", "cancelled", "disputed", "cancelled"])
            #expect(closed[0].caseID == first.recoveryId && closed[0].claimantWaits == true)
            #expect(closed[2].caseID == first.recoveryId && closed[2].claimantWaits == nil, "the claimant knows now")
            #expect(closed[3].caseID == second.recoveryId && closed[3].claimantWaits == true)
            #expect(recovery.opened.heard.map(\.caseID) == [first.recoveryId])
            // Another claimant is not barred.
            let other = try await recovery.claim(claimant: "000009")
            #expect(try await recovery.opened.atLeast(2)[1].caseID == other.recoveryId)
            // And this one for thirty days.
            let days = "SELECT extract(epoch FROM until - now())::bigint / 86400 FROM bars"
            #expect(["29", "30"].contains(try await recovery.stage.rows(days)))
            try await recovery.stage.rows("UPDATE bars SET until = now()")
            _ = try await recovery.cancel(second)
            let free = try await recovery.claim()
            #expect(try await recovery.opened.atLeast(3)[2].caseID == free.recoveryId)
        }
    }

    /// An account is reached by its number and its former ones. A claimant refused by one is refused by the other.
    @Test func anotherNumberOfTheAccountDoesNotBypassABar() async throws {
        try await RecoveryStage.run { recovery in
            let first = try await recovery.claim()
            let isDecoy = "SELECT is_decoy FROM cases WHERE id = "
            let beside = try await recovery.claim(RecoveryStage.formerPhone)
            #expect(try await recovery.stage.rows(isDecoy + "'\(beside.recoveryId)'") == "t", "one is open")
            _ = try await recovery.cancel(beside)
            _ = try await recovery.dispute(first.recoveryId, as: recovery.owner)
            let barred = try await recovery.claim(RecoveryStage.formerPhone)
            #expect(try await recovery.stage.rows(isDecoy + "'\(barred.recoveryId)'") == "t", "barred")
            #expect(try await recovery.look(barred).status == "held")
            #expect(try await recovery.opened.atLeast(1).map(\.caseID) == [first.recoveryId])
            _ = try await recovery.cancel(barred)
            try await recovery.stage.rows("UPDATE bars SET until = now()")
            _ = try await recovery.cancel(first)
            let free = try await recovery.claim(RecoveryStage.formerPhone)
            #expect(try await recovery.opened.atLeast(2)[1].caseID == free.recoveryId)
        }
    }

    @Test func oneClaimantHasOneOpenCaseForAnAccount() async throws {
        try await RecoveryStage.run { recovery in
            let first = try await recovery.claim()
            let error = await #expect(throws: BusError.self) { try await recovery.claim() }
            #expect(error?.code == "recovery_in_progress")
            #expect(try await recovery.stage.rows("SELECT count(*) FROM cases") == "1")
            #expect(try await recovery.look(first).status == "held")
        }
    }

    @Test func aClaimantOverTheLimitMakesNoCaseAndFreezesNothing() async throws {
        try await RecoveryStage.run(perPhone: 1) { recovery in
            let first = try await recovery.claim()
            let error = await #expect(throws: BusError.self) {
                try await recovery.claim(RecoveryStage.unknownPhone, key: "the-key-of-a-second-claim")
            }
            #expect(error?.code == "rate_limited")
            // Auth froze the account before the claimant was known. Its event, which comes by itself, makes no case
            // either, and lifts that.
            let account = Identifier.random()
            let begun = RecoveryStage.begun(
                case: .ordered(), phone: "+14155550111", claimant: "000001", owner: account)
            let event = RecoveryBegan(personID: account, personSequence: 1, begun: begun)
            _ = try await recovery.stage.asking(as: .auth).call(event, recovery.options())
            let closed = try await recovery.closed.atLeast(1)
            #expect(closed[0].caseID == begun.caseID && closed[0].outcome == "cancelled")
            #expect(try await recovery.stage.rows("SELECT id FROM cases") == first.recoveryId.description)
            let refused = await #expect(throws: BusError.self) { try await recovery.claim() }
            #expect(refused?.code == "rate_limited")
            #expect(try await recovery.opened.atLeast(1).map(\.caseID) == [first.recoveryId])
            // Another number has claims of its own.
            _ = try await recovery.claim(claimant: "000009")
        }
    }

    @Test func anEarlyTimerIsSetAgain() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            let timers =
                "SELECT count(*) FILTER (WHERE attempts = 0), count(*) FROM outbox WHERE destination LIKE 'timer:%'"
            let first = try await recovery.stage.rows("SELECT id FROM outbox WHERE destination = 'timer:hold-ended'")
            try await recovery.stage.rows("UPDATE outbox SET due_at = now() WHERE destination LIKE 'timer:%'")
            // The owner's reminders came too early, too, and say nothing; only the hold's end is set once more.
            let isSetAnew = try await eventually(within: .seconds(60)) {
                let now = try await recovery.stage.rows("\(timers) AND id <> '\(first)'")
                return try await recovery.stage.rows(timers) == "1|1" && now == "1|1"
            }
            #expect(isSetAnew)
            #expect(try await recovery.look(requested).status == "held")
        }
    }

    @Test func theHoldEndsByItself() async throws {
        try await RecoveryStage.run(hold: "1s") { recovery in
            let requested = try await recovery.claim()
            let decoy = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000002")
            let disputed = try await recovery.claim(claimant: "000003")
            _ = try await recovery.dispute(disputed.recoveryId, as: recovery.owner)
            try await recovery.until(requested.recoveryId, is: "identity_required")
            try await recovery.until(decoy.recoveryId, is: "identity_required")
            let holds = "SELECT count(*) FROM outbox WHERE destination = 'timer:hold-ended'"
            try #require(try await eventually { try await recovery.stage.rows(holds) == "0" })
            #expect(
                try await recovery.stage.rows("SELECT status FROM cases WHERE id = '\(disputed.recoveryId)'")
                    == "disputed")
            let ends =
                "SELECT count(*) FROM audit t JOIN cases c ON t.chain = 'case ' || c.id WHERE t.act = 'hold_ended'"
            #expect(try await recovery.stage.rows(ends) == "3")
            #expect(try await recovery.stage.rows("\(ends) AND t.at < c.hold_until") == "0", "nothing ends early")
            let views = [
                try await recovery.look(requested), try await recovery.look(decoy), try await recovery.look(disputed),
            ]
            #expect(views.allSatisfy { $0.status == "identity_required" && $0.steps == views[0].steps })
            // The owner may still say no.
            #expect(try await recovery.dispute(requested.recoveryId, as: recovery.owner).status == "disputed")
        }
    }

    @Test func aTokenOpensItsOwnCaseOnly() async throws {
        try await RecoveryStage.run { recovery in
            let mine = try await recovery.claim()
            let other = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000002")
            for (id, token) in [
                (mine.recoveryId, other.recoveryToken), (mine.recoveryId, "rt_guess"), (.ordered(), mine.recoveryToken),
            ] {
                let error = await #expect(throws: BusError.self) {
                    try await recovery.gateway.call(
                        GetRecoveryCase(recoveryId: id, recoveryToken: token), recovery.options())
                }
                #expect(error?.code == "unauthorized")
            }
        }
    }
}
