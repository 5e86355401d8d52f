import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// Auth keeps the hold by itself. So an attacker who controls recovery, or has an operator's key, cannot move an
/// account before its owner had time to object.
@Suite("the hold, as auth keeps it") struct HoldTests {
    private static let (owner, claimant) = ("+14155552671", "+46701234567")

    /// A claim that recovery begins with a hold of one second, and the request that completes it.
    @Loop private func claim(_ auth: AuthStage) async throws -> ApplyRecovery {
        let (first, code) = try await auth.code(for: Self.claimant, purpose: "recovery")
        let begin = BeginRecovery(
            caseID: .ordered(), accountPhone: Self.owner, challengeID: first, code: code, device: AuthStage.device,
            freezeSeconds: 1)
        _ = try await auth.stage.asking(as: .recovery).call(begin, auth.options())
        try await auth.age("2 minutes")
        let (second, fresh) = try await auth.code(for: Self.claimant, purpose: "recovery")
        return ApplyRecovery(caseID: begin.caseID, challengeID: second, code: fresh, device: AuthStage.device)
    }

    @Loop private func open(
        _ apply: ApplyRecovery, until: Timestamp, of person: Identifier, sequence: Int64, _ auth: AuthStage
    ) async throws {
        let opened = CaseOpened(
            personID: person, personSequence: sequence, caseID: apply.caseID, holdUntil: until)
        _ = try await auth.stage.asking(as: .recovery).call(opened, auth.options())
    }

    @Test func noAccountMovesBeforeTheHoldEnds() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner)
            let apply = try await claim(auth)
            try await open(apply, until: .now(), of: owner.user.id, sequence: 1, auth)
            let refused = try await auth.refusal(of: apply, from: .recovery)
            #expect(refused.code == "recovery_not_ready")
            #expect(259_190_000...259_200_000 ~= refused.retryAfterMs ?? 0)
            let isFrozen = "SELECT until >= hold_until AND until > now() + interval '71:59' FROM freezes"
            #expect(try await auth.stage.rows(isFrozen) == "t", "frozen for as long")

            var asOperator = auth.options()
            asOperator.isAsOperator = true
            let operators = try auth.stage.asking(as: .operator)
            for _ in 0..<2 {
                let error = await #expect(throws: BusError.self) { try await operators.call(apply, asOperator) }
                #expect(error?.code == "caller_not_allowed", "neither before nor after")
                try await auth.endHolds()
            }
            // The code was not spent by what was refused.
            let moved = try await auth.stage.asking(as: .recovery).call(apply, auth.options())
            #expect(moved.session.user.id == owner.user.id)
        }
    }

    /// A recovery that was broken into sends no notice, or one to somebody else.
    @Test("auth announces a claim itself if recovery does not", arguments: ["silent", "to another", "told"])
    func untold(recovery: String) async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner, push: "fcm:owner")
            let other = try await auth.signIn("+14155552672", push: "fcm:other")
            let apply = try await claim(auth)
            if recovery != "silent" {
                let event = NotifyPerson(
                    notificationID: .ordered(), personID: (recovery == "told" ? owner : other).user.id,
                    personSequence: 1, kind: "recovery_requested", data: ["recoveryId": apply.caseID.description])
                _ = try await auth.stage.asking(as: .recovery).call(event, auth.options())
            }
            let waiting = "SELECT count(*) FROM outbox WHERE destination = 'timer:untold-claim'"
            #expect(try await auth.stage.rows(waiting) == (recovery == "told" ? "0" : "1"))
            try await auth.stage.rows("UPDATE outbox SET due_at = now() WHERE destination = 'timer:untold-claim'")
            let left = "SELECT count(*) FROM outbox WHERE destination IN ('push', 'timer:untold-claim')"
            #expect(try await eventually { try await auth.stage.rows(left) == "0" })
            let told = auth.spool.pushes().filter { $0["data"]?["kind"] == "recovery_requested" }
            #expect(told.filter { $0["pushToken"] == "fcm:owner" }.count == 1, "once")
            #expect(told.count == (recovery == "to another" ? 2 : 1))
        }
    }

    /// Pushes reach only who has a device with the app.
    @Test("auth announces a claim to the number or address, too", arguments: ["phone", "email", "the claimant's own"])
    func untoldContact(contact: String) async throws {
        let email = "anna@example.com"
        try await AuthStage.run { auth in
            if contact == "phone" {
                _ = try await auth.signIn(Self.owner)
                _ = try await claim(auth)
            } else {
                _ = try await auth.signIn(byEmail: email)
                try await auth.age("2 hours")
                let isOwn = contact != "email"
                let code =
                    isOwn
                    ? try await auth.email(SendEmailCode(email: email, recovery: .init()))
                    : try await auth.code(for: Self.claimant, purpose: "recovery")
                let begin = BeginRecovery(
                    caseID: .ordered(), accountEmail: email, challengeID: code.challenge, code: code.code,
                    device: AuthStage.device, freezeSeconds: 86_400)
                _ = try await auth.stage.asking(as: .recovery).call(begin, auth.options())
            }
            try await auth.stage.rows("UPDATE outbox SET due_at = now() WHERE destination = 'timer:untold-claim'")
            let left =
                "SELECT count(*) FROM outbox WHERE destination IN ('sms', 'email', 'push', 'timer:untold-claim')"
            #expect(try await eventually { try await auth.stage.rows(left) == "0" })
            func isTold(_ messages: [JSONValue], _ to: String) -> Bool {
                messages.contains {
                    $0["to"]?.stringValue == to
                        && $0["body"]?.stringValue?.hasPrefix("Somebody with the number") == true
                }
            }
            #expect(isTold(auth.spool.messages(), Self.owner) == (contact == "phone"))
            #expect(isTold(auth.spool.emails(), email) == (contact == "email"))
        }
    }

    @Test func aClaimClosedInTimeIsNotAnnounced() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner, push: "fcm:owner")
            let apply = try await claim(auth)
            let closed = CaseClosed(
                personID: owner.user.id, personSequence: 1, caseID: apply.caseID, outcome: "cancelled", closedAt: .now()
            )
            _ = try await auth.stage.asking(as: .recovery).call(closed, auth.options())
            try await auth.stage.rows("UPDATE outbox SET due_at = now() WHERE destination = 'timer:untold-claim'")
            let left = "SELECT count(*) FROM outbox WHERE destination IN ('push', 'timer:untold-claim')"
            #expect(try await eventually { try await auth.stage.rows(left) == "0" })
            #expect(!auth.spool.pushes().contains { $0["data"]?["kind"] == "recovery_requested" })
        }
    }

    @Test func recoveryMayLengthenTheHoldAndNeverShortenIt() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.owner)
            let apply = try await claim(auth)
            let week = Timestamp.now() + .seconds(7 * 86_400)
            try await open(apply, until: week, of: owner.user.id, sequence: 1, auth)
            try await open(apply, until: .now(), of: owner.user.id, sequence: 2, auth)
            let refused = try await auth.refusal(of: apply, from: .recovery)
            #expect(refused.code == "recovery_not_ready" && refused.retryAfterMs ?? 0 > 604_000_000)
            let years = Timestamp.now() + .seconds(3650 * 86_400)
            try await open(apply, until: years, of: owner.user.id, sequence: 3, auth)
            let bounded = try await auth.refusal(of: apply, from: .recovery)
            #expect(2_591_000_000...2_592_000_000 ~= bounded.retryAfterMs ?? 0, "30 days")
        }
    }

    /// As an operator chose it for auth.
    @Test func isThatOfAuthsConfiguration() async throws {
        try await AuthStage.run(environment: ["RECOVERY_HOLD": "48h"]) { auth in
            _ = try await auth.signIn(Self.owner)
            let refused = try await auth.refusal(of: try await claim(auth), from: .recovery)
            #expect(172_790_000...172_800_000 ~= refused.retryAfterMs ?? 0)
        }
    }
}
