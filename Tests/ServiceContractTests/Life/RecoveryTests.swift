import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

/// A recovery through the whole house, from the claim to the account in its claimant's hands.
@Suite("recovery") struct RecoveryTests {
    private static let (phone, claimant) = ("+14155552671", "+46701234567")
    private static let reason = "My phone lies in the sea off Öland."

    @Loop private func claim(_ town: Town) async throws -> RecoveryRequested {
        let (challenge, code) = try await town.code(for: Self.claimant, purpose: "recovery")
        return try await town.ask(
            RequestRecovery(
                accountPhone: Self.phone, challengeId: challenge, code: code, device: Sample.phone,
                reason: Self.reason))
    }

    /// A claim that two members of staff had nothing against.
    @Loop private func approved(_ town: Town) async throws -> RecoveryRequested {
        let requested = try await claim(town)
        // Auth hears how long the hold is, and would make it as long again.
        try await town.quiet()
        try await town.rows(.recovery, "UPDATE cases SET hold_until = now()")
        try await town.rows(.auth, "UPDATE freezes SET hold_until = now()")
        try await town.rows(.recovery, "UPDATE outbox SET due_at = now() WHERE destination = 'timer:hold-ended'")
        let status = "SELECT status FROM cases WHERE id = '\(requested.recoveryId)'"
        while try await town.rows(.recovery, status) == "held" { try await Loop.sleep(for: .milliseconds(10)) }
        _ = try await town.ask(
            SubmitEvidence(
                recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken, verificationId: "ver-1"))
        let verdict = "SELECT verdict FROM cases WHERE id = '\(requested.recoveryId)'"
        while try await town.rows(.recovery, verdict) == "" { try await Loop.sleep(for: .milliseconds(10)) }
        for number in 1...2 {
            let staff = try await town.staff("+4670765432\(number)")
            let id = requested.recoveryId
            _ = try await town.ask(ClaimReview(recoveryId: id), as: staff, role: "staff")
            let decided = try await town.ask(ApproveCase(recoveryId: id, note: "Yes."), as: staff, role: "staff")
            if decided.status == "approved" { break }
        }
        return requested
    }

    @Loop private func complete(_ requested: RecoveryRequested, _ town: Town) async throws -> Session {
        try await town.age()
        let (challenge, code) = try await town.code(for: Self.claimant, purpose: "recovery")
        return try await town.ask(
            CompleteRecovery(
                recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken, challengeId: challenge,
                code: code, device: DeviceClaim(secret: requested.deviceSecret, name: "Pixel 10", platform: "android")))
    }

    @Test(.bounded) func bringsTheAccountToItsClaimantAndNothingElseWithIt() async throws {
        try await Town.run { town in
            let old = try await town.settled(Self.phone)
            try await town.age()
            let requested = try await approved(town)
            let new = try await complete(requested, town)
            #expect(new.user.id == old.user.id && new.sessionId != old.sessionId && !new.isNewUser)
            #expect(
                try await comes(within: .seconds(1)) {
                    try await town.send("GET", "/users/me", as: old).status == 401
                }, .time)
            let refreshed = await #expect(throws: BusError.self) {
                try await town.ask(RefreshToken(refreshToken: old.refreshToken))
            }
            #expect(refreshed?.code == "refresh_token_reused" || refreshed?.code == "refresh_token_invalid")
            // What the person had is there, and nothing of it moves for 48 hours.
            let me = try await town.send("GET", "/users/me", as: new)
            #expect(me.status == 200 && me.json["profile"]?["bio"] == "Te är livet")
            try await town.quiet()
            for (method, path) in [("DELETE", "/users/me"), ("GET", "/users/me/export")] {
                let frozen = try await town.send(method, path, as: new)
                #expect(frozen.status == 409 && frozen.json["code"] == "account_frozen", "\(path)")
                let left = frozen.json["retryAfterSeconds"]?.integerValue ?? 0
                #expect(172_000...172_800 ~= left)
            }
            // The number that claimed signs in, and the old one is free for a new person.
            try await town.age()
            #expect(try await town.signIn(Self.claimant).user.id == new.user.id)
            #expect(try await town.signIn(Self.phone).user.id != new.user.id)
            let devices = "SELECT count(*) FROM devices WHERE person_id = '\(new.user.id)' AND removed_at IS NULL"
            #expect(try await town.rows(.auth, devices) == "2", "those of the claimant")
            #expect(try await town.ask(ListOwnCases(), as: new).cases.first?.status == "completed")
            let told = town.pushes().compactMap { $0["data"]?["kind"]?.stringValue }
            #expect(told.contains("recovery_completed"))
        }
    }

    /// What a thief would move first stands still while the hold runs; the owner comes and goes as before.
    @Test func freezesTheAccountAndLeavesItsOwnerTheSignIn() async throws {
        try await Town.run { town in
            let owner = try await town.settled(Self.phone)
            try await town.age()
            let requested = try await claim(town)
            // The owner's number hears of it, too, and nobody but reviewers of what the claimant gave for it.
            try await town.quiet()
            #expect(try await town.columns(holding: Self.reason) == [])
            #expect(!town.pushes().isEmpty && !"\(town.pushes())".contains("Öland"))
            #expect(
                try await town.rows(.recovery, "SELECT count(reason_sealed) FROM cases WHERE closed_at IS NULL") == "1")
            try await town.age()
            let again = try await town.signIn(Self.phone)
            #expect(again.user.id == owner.user.id, "with a fresh sign-in, too")
            for session in [owner, again] {
                #expect(try await town.send("GET", "/users/me", as: session).status == 200)
                let renewed = try await town.ask(RefreshToken(refreshToken: session.refreshToken))
                #expect(renewed.user.id == owner.user.id)
            }
            let change = await #expect(throws: BusError.self) {
                try await town.ask(SendOTP(phone: "+46701230000", purpose: "change_phone"), as: again)
            }
            #expect(change?.code == "account_frozen")
            for (method, path) in [
                ("DELETE", "/users/me"), ("GET", "/users/me/export"), ("DELETE", "/auth/identities/google"),
            ] {
                let frozen = try await town.send(method, path, as: again)
                #expect(frozen.status == 409 && frozen.json["code"] == "account_frozen", "\(path)")
            }
            _ = try await town.ask(DisputeRecovery(recoveryId: requested.recoveryId), as: owner)
            try await town.quiet()
            #expect(try await town.send("GET", "/users/me/export", as: again).status == 200)
        }
    }

    @Test func aNumberThatClaimsOpensNoAccountMeanwhile() async throws {
        try await Town.run { town in
            _ = try await town.signIn(Self.phone)
            let requested = try await claim(town)
            try await town.age()
            let refused = await #expect(throws: BusError.self) { try await town.signIn(Self.claimant) }
            #expect(refused?.code == "recovery_in_progress")
            _ = try await town.ask(
                CancelRecovery(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken))
            try await town.quiet()
            try await town.age()
            let session = try await town.signIn(Self.claimant)
            #expect(session.isNewUser)
            // And who has an account claims no other one.
            try await town.age()
            let claimed = await #expect(throws: BusError.self) { try await claim(town) }
            #expect(claimed?.code == "claimant_has_account")
            try await town.quiet()
            #expect(try await town.rows(.auth, "SELECT count(*) FROM freezes WHERE ended_at IS NULL") == "0")
        }
    }

    @Test func aDisputedClaimantWaitsAsEverybodyDoes() async throws {
        try await Town.run { town in
            let owner = try await town.signIn(Self.phone)
            let requested = try await claim(town)
            _ = try await town.ask(DisputeRecovery(recoveryId: requested.recoveryId), as: owner)
            try await town.quiet()
            #expect(try await town.rows(.auth, "SELECT count(*) FROM freezes WHERE ended_at IS NULL") == "0")
            try await town.age()
            let refused = await #expect(throws: BusError.self) { try await town.signIn(Self.claimant) }
            #expect(refused?.code == "recovery_in_progress", "or it would tell of the dispute")
            _ = try await town.ask(
                CancelRecovery(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken))
            try await town.quiet()
            try await town.age()
            #expect(try await town.signIn(Self.claimant).isNewUser)
        }
    }
}
