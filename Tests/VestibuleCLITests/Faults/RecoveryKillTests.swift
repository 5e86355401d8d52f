import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VestibuleCLI

/// Whole recoveries, from the claim to the account in its claimant's hands, while the processes that carry them are killed.
@Suite("recoveries, process by process", .serialized) struct RecoveryKillTests {
    @Test func everyBegunRecoveryCompletesOnceDespiteKills() async throws {
        try await Fleet.run { fleet in
            try fleet.start(.profile)
            let services: [ServiceName] = [.auth, .recovery]
            var running: [ServiceName: [pid_t]] = [:]
            for service in services { running[service] = try (0..<2).map { _ in try fleet.start(service) } }
            for service in services { try await fleet.ready(service, 2) }
            let lives = Lives(fleet)
            try await lives.hireStaff()
            let work = (0..<4).map { caller in Loop.spawn { try await lives.run(caller) } }
            for round in 0..<Rounds.count(8, prove: 60) {
                let known = lives.steps
                try #require(try await eventually(within: .seconds(60)) { lives.steps > known + 5 })
                let (service, victim) = (services[round % services.count], Int.random(in: 0..<2))
                fleet.kill(try #require(running[service]?[victim]))
                running[service]?[victim] = try fleet.start(service)
                try await fleet.endLeases()
            }
            lives.isStopped = true
            for caller in work { try await caller.value }
            for service in services {
                try await fleet.endLeases()
                // Verification does not run here.
                let left = """
                    SELECT count(*) FROM \(service).outbox WHERE destination NOT LIKE 'timer:%' AND destination <> 'verification'
                    """
                try await fleet.wait(until: left, is: "0")
            }
            let count = lives.completed.count
            #expect(count > 0)
            #expect(try await fleet.ids("SELECT id FROM recovery.cases WHERE status = 'completed'") == lives.completed)
            for (what, sql) in [
                ("completed", "SELECT count(*) FROM recovery.audit WHERE act = 'completed'"),
                ("approved", "SELECT count(*) FROM recovery.audit WHERE act = 'approved'"),
                ("moved", "SELECT count(*) FROM auth.audit WHERE act = 'account_recovered'"),
                ("lifted", "SELECT count(*) FROM auth.audit WHERE act = 'recovery_ended'"),
                (
                    "alone",
                    """
                    SELECT count(*) FROM (
                        SELECT s.person_id FROM auth.sessions s JOIN auth.freezes f ON f.person_id = s.person_id
                        WHERE s.revoked_at IS NULL AND f.applied_at IS NOT NULL GROUP BY s.person_id HAVING count(*) = 1) AS p
                    """
                ),
            ] {
                #expect(try await fleet.sql(sql) == "\(count)", "\(what)")
            }
            print("\(count) recoveries completed through kills")
        }
    }
}

/// People who lose their phones, one after another, and those who help them.
@Loop private final class Lives {
    private let fleet: Fleet
    private var staff: Session?
    private(set) var steps = 0
    private(set) var completed: Set<Identifier> = []
    var isStopped = false

    init(_ fleet: Fleet) { self.fleet = fleet }

    func hireStaff() async throws {
        let person = try await signIn("+46730000001").user.id
        try await fleet.sql("UPDATE auth.accounts SET role = 'staff' WHERE id = '\(person)'")
        // Skips the second that must pass between two codes.
        try await fleet.sql("UPDATE auth.challenges SET created_at = created_at - interval '1 s'")
        staff = try await signIn("+46730000001", attempt: 2)
    }

    func run(_ caller: Int) async throws {
        var number = 0
        while !isStopped {
            number += 1
            let (lost, new) = (
                String(format: "+4670%d%06d", caller, number), String(format: "+4676%d%06d", caller, number)
            )
            _ = try await signIn(lost)
            completed.insert(try await recover(lost, by: new))
        }
    }

    private func recover(_ account: String, by phone: String) async throws -> Identifier {
        let (challenge, code) = try await self.code(for: phone, "recovery", attempt: 1)
        let device = DeviceClaim(name: "Pixel 9", platform: "android")
        let claim: RecoveryRequested = try await ask(
            RequestRecovery(accountPhone: account, challengeId: challenge, code: code, device: device), "claim")
        let (id, token) = (claim.recoveryId, claim.recoveryToken)
        let evidence = SubmitEvidence(recoveryId: id, recoveryToken: token, verificationId: "ver-\(id)")
        // What is shown is the hold's time; what counts is its timer, which may be a moment late.
        try await fleet.wait(until: "SELECT status FROM recovery.cases WHERE id = '\(id)'", is: "identity_required")
        _ = try await ask(evidence, "evidence")
        try await fleet.wait(until: "SELECT count(verdict) FROM recovery.cases WHERE id = '\(id)'", is: "1")
        _ = try await ask(ClaimReview(recoveryId: id), "review", as: staff)
        _ = try await ask(ApproveCase(recoveryId: id, note: "It fits."), "approve", as: staff)
        let (second, right) = try await self.code(for: phone, "recovery", attempt: 2)
        do {
            _ = try await ask(
                CompleteRecovery(
                    recoveryId: id, recoveryToken: token, challengeId: second, code: right,
                    device: DeviceClaim(secret: claim.deviceSecret, name: "Pixel 9", platform: "android")), "complete")
        } catch let error as BusError where error.code == ErrorCode.idempotencyAnswerGone.name {
            // It was done, and its reply was lost.
        } catch let error as BusError where error.code == ErrorCode.recoveryClosed.name {
            // The same, by auth's event.
        }
        try await until(id, is: "completed", token)
        return id
    }

    private func until(_ id: Identifier, is status: String, _ token: String) async throws {
        let look = GetRecoveryCase(recoveryId: id, recoveryToken: token)
        let isSo = try await eventually(within: .seconds(60)) {
            try await EffectOnceTests.insist {
                try await fleet.gateway.call(look, fleet.options(key: "look"))
            }.status == status
        }
        try #require(isSo, "\(id) is not \(status)")
    }

    /// Once, however often it is asked.
    private func ask<Request: BusRequest>(
        _ request: Request, _ what: String, as staff: Session? = nil
    ) async throws -> Request.Reply {
        var options = fleet.options(key: "\(what)-\(Identifier.random())")
        options.actor = staff.map { Actor(userID: $0.user.id, sessionID: $0.sessionId, role: .staff) }
        options.accessToken = staff?.accessToken
        let reply = try await EffectOnceTests.insist { try await fleet.gateway.call(request, options) }
        steps += 1
        return reply
    }

    private func signIn(_ phone: String, attempt: Int = 1) async throws -> Session {
        let (challenge, code) = try await self.code(for: phone, "login", attempt: attempt)
        let device = DeviceClaim(name: "Pixel 8", platform: "android")
        return try await ask(VerifyOTP(challengeId: challenge, code: code, device: device), "sign-in")
    }

    /// - Parameter attempt: which code of the number, from 1. The next one comes a second later.
    private func code(for phone: String, _ purpose: String, attempt: Int) async throws -> (Identifier, String) {
        let sent: OTPSent = try await ask(SendOTP(phone: phone, purpose: purpose), "send")
        try #require(
            try await eventually(within: .seconds(45)) { fleet.codes(for: phone).count >= attempt }, "no SMS came")
        return (sent.challengeId, fleet.codes(for: phone)[attempt - 1])
    }
}
