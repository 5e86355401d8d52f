import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("phone change") struct ChangePhoneTests {
    private static let (old, new) = ("+14155552671", "+46701234567")

    @Test func aNumberChangeMovesTheAccountAndNotifiesEveryDevice() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let other = try await auth.signIn(Self.old, push: "fcm:other")
            try await auth.age("20 minutes")
            let owner = try await auth.signIn(Self.old, push: "fcm:owner")
            let (challenge, code) = try await social.changeCode(to: Self.new, by: owner)
            let texts = auth.spool.messages().compactMap { $0["body"]?.stringValue }
            #expect(texts.last?.contains("to make this the number of your account.") == true)
            let changed = try await auth.ask(
                ChangePhone(challengeId: challenge, code: code), as: social.actor(owner))
            #expect(changed.maskedPhone == "+46 (***) ***-4567")
            try await social.waitUntilSent()
            let told = auth.spool.pushes().filter { $0["data"]?["kind"] == "phone_changed" }
            #expect(
                Set(told.compactMap { $0["deviceId"]?.stringValue })
                    == [other.deviceId.description, owner.deviceId.description],
                "a stolen access token is of the owner's own device")
            #expect(
                auth.spool.messages().contains {
                    $0["to"]?.stringValue == Self.old
                        && $0["body"]?.stringValue?.contains("another phone number") == true
                })
            // The new number opens the account; the old one is somebody else's sign-up.
            try await auth.age("20 minutes")
            #expect(try await auth.signIn(Self.new).user.id == owner.user.id)
            try await auth.age("20 minutes")
            #expect(try await auth.signIn(Self.old).isNewUser)
        }
    }

    @Test func theFormerNumberRecoversTheAccountForNinetyDays() async throws {
        try await SocialStage.run { social in
            let owner = try await social.auth.signIn(Self.old)
            let (challenge, code) = try await social.changeCode(to: Self.new, by: owner)
            _ = try await social.auth.ask(
                ChangePhone(challengeId: challenge, code: code), as: social.actor(owner))
            #expect(try await claimed(social) == owner.user.id)
            try await social.auth.stage.rows("UPDATE phone_aliases SET until = until - interval '90 days'")
            #expect(try await claimed(social) == nil)
        }
    }

    /// The account that a claim for the old number reaches.
    @Loop private func claimed(_ social: SocialStage) async throws -> Identifier? {
        try await social.auth.age("20 minutes")
        let (challenge, code) = try await social.auth.code(for: "+14155552679", purpose: "recovery")
        let begin = BeginRecovery(
            caseID: .ordered(), accountPhone: Self.old, challengeID: challenge, code: code,
            device: AuthStage.device, freezeSeconds: 60)
        return try await social.auth.stage.asking(as: .recovery).call(begin, social.auth.options()).accountID
    }

    @Test func aNumberOfAnotherAccountStaysThere() async throws {
        try await SocialStage.run { social in
            let holder = try await social.auth.signIn(Self.new)
            let owner = try await social.auth.signIn(Self.old)
            let (challenge, code) = try await social.changeCode(to: Self.new, by: owner)
            let refused = try await social.auth.refusal(
                of: ChangePhone(challengeId: challenge, code: code), as: social.actor(owner))
            #expect(refused.code == "phone_in_use")
            #expect(refused.detail == "This number is already in use. Recover your account?")
            try await social.auth.age("20 minutes")
            #expect(try await social.auth.signIn(Self.new).user.id == holder.user.id)
        }
    }

    @Test func aCodeIsForTheSessionThatAskedAndForNothingElse() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(Self.old)
            try await auth.age("20 minutes")
            let twin = try await auth.signIn(Self.old)
            let (challenge, code) = try await social.changeCode(to: Self.new, by: owner)
            let change = ChangePhone(challengeId: challenge, code: code)
            #expect(try await auth.refusal(of: change, as: social.actor(twin)).code == "otp_expired")
            let signIn = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            #expect(try await auth.refusal(of: signIn).code == "otp_expired")
            let (own, ownCode) = try await auth.code(for: "+14155552673")
            let wrongPurpose = ChangePhone(challengeId: own, code: ownCode)
            #expect(try await auth.refusal(of: wrongPurpose, as: social.actor(owner)).code == "otp_expired")
            _ = try await auth.ask(change, as: social.actor(owner))
            #expect(try await auth.refusal(of: change, as: social.actor(owner)).code == "otp_expired", "once")
        }
    }

    @Test func aNumberChangeDropsTheRole() async throws {
        try await SocialStage.run { social in
            let owner = try await social.auth.signIn(Self.old)
            try await social.auth.stage.rows(
                """
                UPDATE accounts SET role = 'staff';
                INSERT INTO role_proposals (person_id, is_granted, operator_name, until)
                    SELECT id, true, 'anna', now() + interval '1 day' FROM accounts
                """)
            let (challenge, code) = try await social.changeCode(to: Self.new, by: owner)
            _ = try await social.auth.ask(
                ChangePhone(challengeId: challenge, code: code), as: social.actor(owner))
            #expect(try await social.auth.stage.rows("SELECT role FROM accounts") == "user")
            #expect(try await !social.auth.ask(CheckSession(sessionID: owner.sessionId)).isActive)
            #expect(
                try await social.auth.stage.rows("SELECT details FROM audit WHERE act = 'role_dropped'")
                    == #"{"role":"staff","why":"phone_changed"}"#)
            #expect(
                try await social.auth.stage.rows("SELECT count(*) FROM role_proposals") == "0",
                "what was asked for the one is not granted to the other")
        }
    }

    @Test func oneOfTwoConcurrentChangesToANumberSucceeds() async throws {
        try await SocialStage.run(replicas: 2) { social in
            let auth = social.auth
            let sessions = [try await auth.signIn(Self.old), try await auth.signIn("+14155552672")]
            var changes: [(ChangePhone, Actor)] = []
            for session in sessions {
                let (challenge, code) = try await social.changeCode(to: Self.new, by: session)
                changes.append((ChangePhone(challengeId: challenge, code: code), social.actor(session)))
                try await auth.stage.rows("UPDATE challenges SET state = 'open' WHERE state = 'superseded'")
            }
            var outcomes: [String] = []
            let tasks = changes.map { change, actor in
                Loop.spawn { () -> String in
                    do {
                        _ = try await auth.ask(change, as: actor)
                        return "changed"
                    } catch let error as BusError {
                        return error.code
                    }
                }
            }
            for task in tasks { outcomes.append(try await task.value) }
            #expect(outcomes.count { $0 == "changed" } == 1, "\(outcomes)")
            #expect(Set(outcomes).isSubset(of: ["changed", "phone_in_use", "overloaded"]))
            #expect(try await auth.stage.rows("SELECT count(*) FROM phones") == "2")
        }
    }
}
