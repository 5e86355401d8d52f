import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

/// A recovery through the whole system, from the claim until the claimant has the account.
@Suite("recovery") struct RecoveryTests {
    private static let (phone, claimant) = ("+14155552671", "+46701234567")
    private static let reason = "My phone lies in the sea off Öland."

    @Loop private func claim(_ system: TestSystem) async throws -> RecoveryRequested {
        let (challenge, code) = try await system.code(for: Self.claimant, purpose: "recovery")
        return try await system.ask(
            RequestRecovery(
                accountPhone: Self.phone, challengeId: challenge, code: code, device: Sample.phone,
                reason: Self.reason))
    }

    /// A claim that two members of staff approved.
    @Loop private func approved(_ system: TestSystem) async throws -> RecoveryRequested {
        let requested = try await claim(system)
        // Auth's freeze gets its hold from an event, which would undo an earlier update of it.
        try await system.quiet()
        try await system.rows(.recovery, "UPDATE cases SET hold_until = now()")
        try await system.rows(.auth, "UPDATE freezes SET hold_until = now()")
        try await system.rows(.recovery, "UPDATE outbox SET due_at = now() WHERE destination = 'timer:hold-ended'")
        let status = "SELECT status FROM cases WHERE id = '\(requested.recoveryId)'"
        try #require(try await eventually { try await system.rows(.recovery, status) != "held" })
        _ = try await system.ask(
            SubmitEvidence(
                recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken, verificationId: "ver-1"))
        let verdict = "SELECT verdict FROM cases WHERE id = '\(requested.recoveryId)'"
        try #require(try await eventually { try await system.rows(.recovery, verdict) != "" })
        for number in 1...2 {
            let staff = try await system.staff("+4670765432\(number)")
            let id = requested.recoveryId
            _ = try await system.ask(ClaimReview(recoveryId: id), as: staff, role: .staff)
            let decided = try await system.ask(ApproveCase(recoveryId: id, note: "Yes."), as: staff, role: .staff)
            if decided.status == "approved" { break }
        }
        return requested
    }

    @Loop private func complete(_ requested: RecoveryRequested, _ system: TestSystem) async throws -> Session {
        try await system.age()
        let (challenge, code) = try await system.code(for: Self.claimant, purpose: "recovery")
        return try await system.ask(
            CompleteRecovery(
                recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken, challengeId: challenge,
                code: code, device: DeviceClaim(secret: requested.deviceSecret, name: "Pixel 10", platform: "android")))
    }

    @Test(.bounded) func aRecoveryMovesTheAccountAndEndsItsFormerAccess() async throws {
        try await TestSystem.run { system in
            let old = try await system.onboarded(Self.phone)
            try await system.age()
            let requested = try await approved(system)
            let new = try await complete(requested, system)
            #expect(new.user.id == old.user.id && new.sessionId != old.sessionId && !new.isNewUser)
            #expect(
                try await eventually(within: .seconds(1)) {
                    try await system.send("GET", "/users/me", as: old).status == 401
                }, .time)
            let refreshed = await #expect(throws: BusError.self) {
                try await system.ask(RefreshToken(refreshToken: old.refreshToken))
            }
            #expect(refreshed?.code == "refresh_token_reused" || refreshed?.code == "refresh_token_invalid")
            // The person's data is there, and the account stays frozen for 48 hours.
            let me = try await system.send("GET", "/users/me", as: new)
            #expect(me.status == 200 && me.json["profile"]?["bio"] == "Te är livet")
            try await system.quiet()
            for (method, path) in [("DELETE", "/users/me"), ("GET", "/users/me/export")] {
                let frozen = try await system.send(method, path, as: new)
                #expect(frozen.status == 409 && frozen.json["code"] == "account_frozen", "\(path)")
                let left = frozen.json["retryAfterSeconds"]?.integerValue ?? 0
                #expect(172_000...172_800 ~= left)
            }
            // The claimant's number signs in, and the old number is free for a new person.
            try await system.age()
            #expect(try await system.signIn(Self.claimant).user.id == new.user.id)
            #expect(try await system.signIn(Self.phone).user.id != new.user.id)
            let devices = "SELECT count(*) FROM devices WHERE person_id = '\(new.user.id)' AND removed_at IS NULL"
            #expect(try await system.rows(.auth, devices) == "2", "those of the claimant")
            #expect(try await system.ask(ListOwnCases(), as: new).cases.first?.status == "completed")
            let told = system.pushes().compactMap { $0["data"]?["kind"]?.stringValue }
            #expect(told.contains("recovery_completed"))
        }
    }

    /// What a thief would change first is frozen during the hold. The owner can still sign in.
    @Test func aClaimFreezesTheAccountButNotItsOwnersSignIn() async throws {
        try await TestSystem.run { system in
            let owner = try await system.onboarded(Self.phone)
            try await system.age()
            let requested = try await claim(system)
            // The owner is notified, too. Only reviewers see the reason that the claimant gave.
            try await system.quiet()
            #expect(try await system.columns(holding: Self.reason) == [])
            #expect(!system.pushes().isEmpty && !"\(system.pushes())".contains("Öland"))
            #expect(
                try await system.rows(.recovery, "SELECT count(reason_sealed) FROM cases WHERE closed_at IS NULL")
                    == "1")
            try await system.age()
            let again = try await system.signIn(Self.phone)
            #expect(again.user.id == owner.user.id, "with a fresh sign-in, too")
            for session in [owner, again] {
                #expect(try await system.send("GET", "/users/me", as: session).status == 200)
                let renewed = try await system.ask(RefreshToken(refreshToken: session.refreshToken))
                #expect(renewed.user.id == owner.user.id)
            }
            let change = await #expect(throws: BusError.self) {
                try await system.ask(SendOTP(phone: "+46701230000", purpose: "change_phone"), as: again)
            }
            #expect(change?.code == "account_frozen")
            for (method, path) in [
                ("DELETE", "/users/me"), ("GET", "/users/me/export"), ("DELETE", "/auth/identities/google"),
            ] {
                let frozen = try await system.send(method, path, as: again)
                #expect(frozen.status == 409 && frozen.json["code"] == "account_frozen", "\(path)")
            }
            _ = try await system.ask(DisputeRecovery(recoveryId: requested.recoveryId), as: owner)
            try await system.quiet()
            #expect(try await system.send("GET", "/users/me/export", as: again).status == 200)
        }
    }

    @Test func aClaimingNumberOpensNoAccountDuringTheClaim() async throws {
        try await TestSystem.run { system in
            _ = try await system.signIn(Self.phone)
            let requested = try await claim(system)
            try await system.age()
            let refused = await #expect(throws: BusError.self) { try await system.signIn(Self.claimant) }
            #expect(refused?.code == "recovery_in_progress")
            _ = try await system.ask(
                CancelRecovery(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken))
            try await system.quiet()
            try await system.age()
            let session = try await system.signIn(Self.claimant)
            #expect(session.isNewUser)
            // A person with an account cannot claim another one.
            try await system.age()
            let claimed = await #expect(throws: BusError.self) { try await claim(system) }
            #expect(claimed?.code == "claimant_has_account")
            try await system.quiet()
            #expect(try await system.rows(.auth, "SELECT count(*) FROM freezes WHERE ended_at IS NULL") == "0")
        }
    }

    @Test func aDisputedClaimStillBlocksSignInsByItsNumber() async throws {
        try await TestSystem.run { system in
            let owner = try await system.signIn(Self.phone)
            let requested = try await claim(system)
            _ = try await system.ask(DisputeRecovery(recoveryId: requested.recoveryId), as: owner)
            try await system.quiet()
            #expect(try await system.rows(.auth, "SELECT count(*) FROM freezes WHERE ended_at IS NULL") == "0")
            try await system.age()
            let refused = await #expect(throws: BusError.self) { try await system.signIn(Self.claimant) }
            #expect(refused?.code == "recovery_in_progress", "or it would tell of the dispute")
            _ = try await system.ask(
                CancelRecovery(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken))
            try await system.quiet()
            try await system.age()
            #expect(try await system.signIn(Self.claimant).isNewUser)
        }
    }
}
