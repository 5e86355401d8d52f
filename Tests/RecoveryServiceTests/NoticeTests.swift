import BusProtocol
import BusRuntime
import Database
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

@Suite("what an owner hears of claims") struct NoticeTests {
    @Test func theNoticeNamesTheClaimItsTimeAndItsDevice() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.hasRecentSignIn = true
            let requested = try await recovery.claim()
            let told = try await recovery.notified.atLeast(1)[0]
            let shown = try await recovery.gateway.call(ListOwnCases(), recovery.options(recovery.owner)).cases[0]
            #expect(told.data["requestedAt"] == shown.requestedAt.description && told.data["platform"] == "android")
            #expect(told.data["recentSignIn"] == "true")
            #expect(told.data["recoveryId"] == requested.recoveryId.description)
            #expect(told.smsUnlessHeldBy == ["of 000001"])
        }
    }

    @Test func theOwnerIsRemindedMidwayAndAnHourBeforeTheEnd() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            let times = try await recovery.stage.rows(
                """
                SELECT string_agg(o.destination || ' ' || extract(epoch FROM c.hold_until - o.due_at)::bigint, ',' ORDER BY o.due_at)
                FROM outbox o CROSS JOIN cases c WHERE o.destination LIKE 'timer:%'
                """)
            #expect(times == "timer:middle 129600,timer:last-hour 3600,timer:hold-ended 0")
            try await recovery.age(.seconds(129_600))
            try await recovery.fire(OwnerNotifier.middleTimer)
            try await recovery.age(.seconds(126_000))
            try await recovery.fire(OwnerNotifier.lastHourTimer)
            let told = try await recovery.notified.atLeast(3)
            #expect(told.map(\.kind) == ["recovery_requested", "recovery_reminder", "recovery_last_hour"])
            #expect(Set(told.map(\.notificationID)).count == 3)
            // Each token stops the case, and each only this one.
            let tokens = told.compactMap { $0.data["disputeToken"] }
            #expect(Set(tokens).count == 3)
            let other = try await recovery.claim(claimant: "000002")
            let error = await #expect(throws: BusError.self) {
                try await recovery.dispute(other.recoveryId, token: tokens[1])
            }
            #expect(error?.code == "unauthorized")
            for token in tokens {
                #expect(try await recovery.dispute(requested.recoveryId, token: token).status == "disputed")
            }
        }
    }

    @Test func anEarlyOrLateReminderIsNotSent() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            try await recovery.fire(OwnerNotifier.middleTimer)
            _ = try await recovery.dispute(requested.recoveryId, as: recovery.owner)
            try await recovery.age(.seconds(255_600))
            try await recovery.fire(OwnerNotifier.lastHourTimer)
            #expect(try await recovery.notified.atLeast(2).map(\.kind) == ["recovery_requested", "recovery_disputed"])
        }
    }

    @Test func aTokenEndsWithItsCase() async throws {
        try await RecoveryStage.run { recovery in
            let requested = try await recovery.claim()
            let token = try await recovery.notified.atLeast(1)[0].data["disputeToken"]
            _ = try await recovery.cancel(requested)
            let error = await #expect(throws: BusError.self) {
                try await recovery.dispute(requested.recoveryId, token: token)
            }
            #expect(error?.code == "recovery_closed")
            #expect(try await recovery.notified.atLeast(2)[1].data["disputeToken"] == nil)
        }
    }

    @Test func moreThanThreeClaimsADayComeInOneNotice() async throws {
        try await RecoveryStage.run { recovery in
            var claims: [RecoveryRequested] = []
            for number in 1...7 { claims.append(try await recovery.claim(claimant: "00000\(number)")) }
            _ = try await recovery.opened.atLeast(7)
            #expect(recovery.notified.heard.count == 3)
            let timers = "SELECT count(*) FROM outbox WHERE destination = 'timer:gathered'"
            #expect(try await recovery.stage.rows(timers) == "1")
            // The owner was not notified of this claim. So they are not notified of its withdrawal either.
            _ = try await recovery.cancel(claims[6])
            try await recovery.fire(OwnerNotifier.gatheringTimer)
            let gathered = try await recovery.notified.atLeast(4)[3]
            #expect(recovery.notified.heard.count == 4)
            let ids = claims[3...5].map(\.recoveryId.description)
            #expect(gathered.data["recoveryIds"] == ids.joined(separator: " ") && gathered.data["recoveryId"] == ids[2])
            // One token stops them all.
            for claim in claims[3...5] {
                let disputed = try await recovery.dispute(claim.recoveryId, token: gathered.data["disputeToken"])
                #expect(disputed.status == "disputed")
            }
        }
    }

    /// However many people claim an account, its owner gets a way to stop each claim, at each stage.
    @Test func noneOfManyClaimsIsLeftOut() async throws {
        try await RecoveryStage.run { recovery in
            let count = NoticePlan.mostTogether + 4
            var claims: [RecoveryRequested] = []
            for number in 1...count {
                claims.append(try await recovery.claim(claimant: "0000\(number + 10)"))
            }
            func ids(_ notice: NotifyPerson) -> Set<String> {
                Set(
                    (notice.data["recoveryIds"] ?? notice.data["recoveryId"] ?? "").split(separator: " ").map(
                        String.init))
            }
            let all = Set(claims.map(\.recoveryId.description))
            _ = try await recovery.notified.atLeast(3)
            for (stage, timer) in [
                ("requested", OwnerNotifier.gatheringTimer), ("reminder", OwnerNotifier.middleTimer),
                ("last_hour", OwnerNotifier.lastHourTimer),
            ] {
                if stage == "last_hour" {
                    try await recovery.stage.rows("UPDATE cases SET hold_until = now() + interval '50 minutes'")
                } else if stage == "reminder" {
                    let middle = "created_at = now() - interval '70 hours', hold_until = now() + interval '60 hours'"
                    try await recovery.stage.rows("UPDATE cases SET \(middle)")
                }
                try await recovery.fire(timer)
                try #require(
                    try await eventually {
                        let told = recovery.notified.heard.filter { $0.kind == "recovery_\(stage)" }
                        return told.map(ids).reduce(into: Set()) { $0.formUnion($1) } == all
                    }, "\(stage)")
                let told = recovery.notified.heard.filter { $0.kind == "recovery_\(stage)" }
                #expect(told.map { ids($0).count }.reduce(0, +) == count, "each once: \(stage)")
            }
            let last = try #require(claims.last?.recoveryId)
            let notice = try #require(recovery.notified.heard.last { ids($0).contains(last.description) })
            #expect(
                try await recovery.dispute(last, token: notice.data["disputeToken"]).status == "disputed")
        }
    }

    @Test func theOutcomeOfANoticeOnEachDeviceIsStored() async throws {
        try await RecoveryStage.run { recovery in
            _ = try await recovery.claim()
            let notice = try await recovery.notified.atLeast(1)[0].notificationID
            let auth = try recovery.stage.asking(as: .auth)
            let (first, second) = (Identifier.ordered(), Identifier.ordered())
            for (sequence, id, device, outcome) in [
                (1, notice, first, "delivered"), (2, notice, second, "failed"), (3, .ordered(), first, "delivered"),
            ] as [(Int64, Identifier, Identifier, String)] {
                let told = NotificationDelivered(
                    personID: recovery.owner, personSequence: sequence, notificationID: id, deviceID: device,
                    outcome: outcome, at: .now())
                _ = try await auth.call(told, recovery.options())
            }
            let kept = "SELECT string_agg(outcome, ' ' ORDER BY outcome) FROM notice_deliveries"
            #expect(try await recovery.stage.rows(kept) == "delivered failed", "no other person's notice")
        }
    }

    @Test func aNumberThatIsClaimedOftenIsHeldLongerWithOrWithoutAnAccount() async throws {
        try await RecoveryStage.run { recovery in
            for phone in [RecoveryStage.accountPhone, RecoveryStage.unknownPhone] {
                var holds: [Duration] = []
                for number in 1...4 {
                    let claim = try await recovery.claim(phone, claimant: "\(phone.suffix(2))000\(number)")
                    holds.append(claim.holdUntil - (try await recovery.look(claim)).requestedAt)
                }
                #expect(holds.map { ($0.components.seconds + 1) / 3600 } == [72, 72, 72, 168])
            }
        }
    }

    /// Claims of dormant accounts have a longer hold. The same share of unknown numbers has it, so a long hold reveals
    /// nothing.
    @Test func aLongHoldDoesNotRevealADormantAccount() async throws {
        try await RecoveryStage.run { recovery in
            func hours(_ phone: String, _ claimant: String) async throws -> Int64 {
                let claim = try await recovery.claim(phone, claimant: claimant)
                return ((claim.holdUntil - (try await recovery.look(claim)).requestedAt).components.seconds + 1) / 3600
            }
            #expect(try await hours("+14155550101", "000001") == 72, "nobody slept so far")
            recovery.auth.facts.isDormant = true
            #expect(try await hours(RecoveryStage.accountPhone, "000002") == 168)
            #expect(try await hours("+14155550102", "000003") == 168, "everybody did")
            recovery.auth.facts.isDormant = false
            #expect(try await hours(RecoveryStage.accountPhone, "000004") == 72)
            var seen: [Int64] = []
            for number in 0..<40 { seen.append(try await hours("+141555503\(10 + number)", "\(100_000 + number)")) }
            // Half of the accounts slept: none of forty, or all of them, would be a chance of one in 10¹².
            #expect(Set(seen) == [72, 168])
            for number in 0..<40 {
                let again = try await hours("+141555503\(10 + number)", "\(200_000 + number)")
                #expect(again == seen[number], "the same number looks the same each time")
            }
        }
    }

    @Test("unknown numbers look dormant as often as accounts are", arguments: [0, 0.25, 1])
    func share(share: Double) {
        let asleep = (0..<4000).count { RecoveryPolicy.looksDormant("of number \($0)", share: share) }
        // Over five standard deviations from the middle.
        #expect(abs(Double(asleep) / 4000 - share) <= (share == 0 || share == 1 ? 0 : 0.035))
    }

    /// Whatever the service is made to do, its role in the tables cannot.
    @Test func theServicesRoleCannotShortenAHold() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            for change in [
                "UPDATE cases SET hold_until = now()", "UPDATE cases SET created_at = created_at - interval '3 days'",
                "UPDATE cases SET claimant_reference = 'another'", "DELETE FROM cases",
            ] {
                await #expect(throws: DatabaseError.self, "\(change)") {
                    try await recovery.stage.containers[0].database.write(Statement(change))
                }
            }
            #expect(try await recovery.look(claim).holdUntil == claim.holdUntil)
        }
    }

    @Test func startingAgainNeverShortensTheHold() async throws {
        try await RecoveryStage.run { recovery in
            let first = try await recovery.claim()
            let later = first.holdUntil + .seconds(400_000)
            try await recovery.stage.rows("UPDATE cases SET hold_until = '\(later)'")
            _ = try await recovery.cancel(first)
            #expect(try await recovery.claim().holdUntil == later)
            #expect(try await recovery.claim(claimant: "000002").holdUntil < later)
        }
    }

    @Test func oneNetworkSharesOneDailyLimitOfClaims() async throws {
        try await RecoveryStage.run(perAddress: 2) { recovery in
            for (number, address) in ["2001:db8:1:1::1", "2001:db8:1:1:ffff::2"].enumerated() {
                _ = try await recovery.claim(claimant: "00000\(number)", at: address)
            }
            let error = await #expect(throws: BusError.self) {
                try await recovery.claim(claimant: "000008", at: "2001:db8:1:1:1234::3")
            }
            #expect(error?.code == "rate_limited")
            _ = try await recovery.claim(claimant: "000009", at: "2001:db8:1:2::1")
        }
    }

    /// A /48 contains 65,536 /64 networks.
    @Test func aSiteHasAsManyClaimsADayAsEightNetworks() async throws {
        try await RecoveryStage.run(perAddress: 1) { recovery in
            for network in 1...8 {
                _ = try await recovery.claim(claimant: "00000\(network)", at: "2001:db8:1:\(network)::1")
            }
            let error = await #expect(throws: BusError.self) {
                try await recovery.claim(claimant: "000009", at: "2001:db8:1:9::1")
            }
            #expect(error?.code == "rate_limited")
            _ = try await recovery.claim(claimant: "000009", at: "2001:db8:2:9::1")
        }
    }

    @Test("a short hold has no last-hour reminder", arguments: [(7200, false), (7201, true), (259_200, true)])
    func plan(seconds: Int64, hasLastHour: Bool) {
        let start = Timestamp("2026-02-20T09:00:00Z")!
        let end = start + .seconds(seconds)
        #expect(NoticePlan.due(.lastHour, from: start, until: end) == (hasLastHour ? end - .seconds(3600) : nil))
        #expect(NoticePlan.due(.middle, from: start, until: end) == start + .milliseconds(seconds * 500))
    }
}
