import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("dormancy policy") struct DormancyPolicyTests {
    private static let now = Timestamp("2026-02-20T09:00:00Z")!

    @Test(
        "dormancy, device and request decide what a code does",
        arguments: [
            (nil, false, false, .signIn), (nil, false, true, .signIn), (0, false, false, .signIn),
            (86_400, false, false, .signIn), (86_401, false, false, .ask), (86_401, false, true, .detach),
            (86_401, true, false, .signIn), (86_401, true, true, .signIn), (86_400, false, true, .signIn),
        ] as [(Int64?, Bool, Bool, DormancyPolicy.Decision)])
    func decide(slept: Int64?, isKnown: Bool, wantsNew: Bool, decision: DormancyPolicy.Decision) {
        func decide(limit: Duration?) -> DormancyPolicy.Decision {
            DormancyPolicy.decide(
                seenAt: slept.map { Self.now - .seconds($0) }, now: Self.now, isKnownDevice: isKnown,
                wantsNewAccount: wantsNew, limit: limit)
        }
        #expect(decide(limit: .seconds(86_400)) == decision)
        #expect(decide(limit: nil) == .signIn)
    }
}

@Suite("dormant accounts") struct DormancyTests {
    private static let phone = "+14155552671"
    private static let year = ["AUTH_DORMANT_AFTER": "8760h"]

    /// Makes the account look unused for the interval.
    @Loop private func sleep(_ interval: String, _ auth: AuthStage) async throws {
        try await auth.stage.rows(
            """
            UPDATE accounts SET created_at = created_at - interval '\(interval)';
            UPDATE phones SET created_at = created_at - interval '\(interval)';
            UPDATE devices SET created_at = created_at - interval '\(interval)', last_used_at = last_used_at - interval '\(interval)';
            UPDATE sessions SET created_at = created_at - interval '\(interval)', last_used_at = last_used_at - interval '\(interval)'
            """)
        try await auth.age("20 minutes")
    }

    @Test func anUnknownDeviceAtADormantNumberMayStartANewAccount() async throws {
        try await AuthStage.run(replicas: 2, environment: Self.year) { auth in
            let owner = try await auth.signIn(Self.phone, push: "fcm:owner")
            try await sleep("366 days", auth)
            let (challenge, code) = try await auth.code(for: Self.phone)
            var verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            let refused = try await auth.refusal(of: verify)
            #expect(refused.code == "recovery_required")
            #expect(refused.details?["options"] == ["recover", "new_account"])
            // The same code begins the new account.
            verify.newAccount = true
            let holder = try await auth.ask(verify)
            #expect(holder.isNewUser && holder.user.id != owner.user.id)
            #expect(
                try await auth.stage.rows("SELECT person_id FROM phones") == holder.user.id.description,
                "the number is its new holder's")
            #expect(try await auth.stage.rows("SELECT count(*) FROM phone_aliases") == "0", "and no way to the old")
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts") == "2")
            #expect(try await auth.stage.rows("SELECT count(*) FROM audit WHERE act = 'phone_detached'") == "1")
            #expect(
                try await eventually {
                    auth.spool.pushes().contains {
                        $0["data"]?["kind"] == "phone_detached" && $0["pushToken"] == "fcm:owner"
                    }
                })
            try await auth.age("20 minutes")
            #expect(try await auth.signIn(Self.phone).user.id == holder.user.id)
        }
    }

    @Test func aDormantAccountThatLosesItsNumberLosesItsRole() async throws {
        try await AuthStage.run(environment: Self.year) { auth in
            let owner = try await auth.signIn(Self.phone)
            try await auth.stage.rows("UPDATE accounts SET role = 'admin'")
            try await sleep("366 days", auth)
            // It was renewed by nobody, and no pass of the housekeeping has come by.
            try await auth.stage.rows("UPDATE sessions SET created_at = now(), revoked_at = NULL")
            let (challenge, code) = try await auth.code(for: Self.phone)
            _ = try await auth.ask(
                VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device, newAccount: true))
            #expect(
                try await auth.stage.rows("SELECT role FROM accounts WHERE id = '\(owner.user.id)'") == "user")
            #expect(try await !auth.ask(CheckSession(sessionID: owner.sessionId)).isActive)
            #expect(
                try await auth.stage.rows("SELECT details FROM audit WHERE act = 'role_dropped'")
                    == #"{"role":"admin","why":"detached"}"#)
        }
    }

    @Test func whileTheAccountIsClaimedItKeepsItsNumber() async throws {
        try await AuthStage.run(environment: Self.year) { auth in
            let owner = try await auth.signIn(Self.phone)
            try await sleep("366 days", auth)
            try await auth.stage.rows(
                """
                INSERT INTO freezes (case_id, person_id, until)
                VALUES (gen_random_uuid(), '\(owner.user.id)', now() + interval '1 hour')
                """)
            let (challenge, code) = try await auth.code(for: Self.phone)
            let verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device, newAccount: true)
            #expect(try await auth.refusal(of: verify).code == "account_frozen")
            #expect(try await auth.stage.rows("SELECT person_id FROM phones") == owner.user.id.description)
            try await auth.stage.rows("DELETE FROM freezes")
            #expect(try await auth.ask(verify).isNewUser, "the code was not used up")
        }
    }

    @Test func aKnownDeviceSignsInToADormantAccount() async throws {
        try await AuthStage.run(environment: Self.year) { auth in
            let owner = try await auth.signIn(Self.phone)
            try await sleep("3 years", auth)
            let (challenge, code) = try await auth.code(for: Self.phone)
            let known = DeviceClaim(id: owner.deviceId, secret: owner.deviceSecret, name: "n", platform: "ios")
            let session = try await auth.ask(
                VerifyOTP(challengeId: challenge, code: code, device: known, newAccount: true))
            #expect(session.user.id == owner.user.id && !session.isNewUser, "who is known cannot be somebody else")
            // The sign-in counts as a use, so another device can sign in too.
            try await auth.age("20 minutes")
            #expect(try await auth.signIn(Self.phone).user.id == owner.user.id)
        }
    }

    @Test func useWithoutACodeKeepsAnAccountAwake() async throws {
        try await AuthStage.run(environment: Self.year) { auth in
            let owner = try await auth.signIn(Self.phone)
            try await sleep("500 days", auth)
            try await auth.stage.rows("UPDATE sessions SET last_used_at = now() - interval '300 days'")
            #expect(try await auth.signIn(Self.phone).user.id == owner.user.id, "its tokens were renewed since")
        }
    }

    /// Housekeeping removes ended sessions; when their device was used stays known.
    @Test func removedSessionsLeaveTheirLastUseKnown() async throws {
        try await AuthStage.run(environment: Self.year) { auth in
            let owner = try await auth.signIn(Self.phone)
            try await sleep("400 days", auth)
            try await auth.stage.rows(
                "UPDATE sessions SET last_used_at = now() - interval '100 days', revoked_at = now() - interval '2 days'"
            )
            let container = auth.stage.containers[0]
            #expect(
                try await eventually {
                    try await Housekeeping.run(container.database, audit: container.audit)
                    return try await auth.stage.rows("SELECT count(*) FROM sessions") == "0"
                })
            #expect(
                try await auth.stage.rows("SELECT last_used_at > now() - interval '101 days' FROM devices") == "t")
            #expect(try await auth.signIn(Self.phone).user.id == owner.user.id)
        }
    }

    @Test func withoutALimitNoAccountBecomesDormant() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.phone)
            try await sleep("20 years", auth)
            #expect(try await auth.signIn(Self.phone).user.id == owner.user.id)
        }
    }

    /// If two people hold codes for the number at once, one creates the new account and the other signs in to it.
    @Test func twoConcurrentNewStartsCreateOneAccount() async throws {
        try await AuthStage.run(replicas: 2, environment: Self.year) { auth in
            _ = try await auth.signIn(Self.phone)
            try await sleep("2 years", auth)
            var verifies: [VerifyOTP] = []
            for number in 0..<2 {
                let (challenge, code) = try await auth.code(for: Self.phone, by: nil, at: "192.0.2.\(10 + number)")
                try await auth.age("2 minutes")
                verifies.append(
                    VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device, newAccount: true))
            }
            let tasks = verifies.map { verify in Loop.spawn { try await patiently { try await auth.ask(verify) } } }
            var sessions: [Session] = []
            for task in tasks { sessions.append(try await task.value) }
            #expect(Set(sessions.map(\.user.id)).count == 1)
            #expect(sessions.count { $0.isNewUser } == 1)
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts") == "2")
        }
    }
}
