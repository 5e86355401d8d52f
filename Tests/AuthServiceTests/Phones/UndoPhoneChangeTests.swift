import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// A number that a thief took off an account is given back, on a device that the account knew.
@Suite("undoing a phone change") struct UndoPhoneChangeTests {
    private static let (old, new, third) = ("+14155552671", "+46701234567", "+46701234568")

    /// The owner's tablet, which the account has known for long, and the phone with which a thief changes the number.
    private struct PhoneTakeover {
        let tablet: Session
        let stolen: Session
        let proof: SendOTP.Proof
        /// The token in the SMS to the old number.
        let token: String
    }

    @Loop private func takeOver(_ social: SocialStage) async throws -> PhoneTakeover {
        let auth = social.auth
        let tablet = try await auth.signIn(Self.old, push: "fcm:tablet")
        let stolen = try await auth.signIn(Self.old, push: "fcm:stolen")
        try await ageAccount(auth)
        let token = try await change(to: Self.new, from: Self.old, by: stolen, social)
        let proof = SendOTP.Proof(id: tablet.deviceId, secret: try #require(tablet.deviceSecret))
        return PhoneTakeover(tablet: tablet, stolen: stolen, proof: proof, token: token)
    }

    /// Ages the devices and sessions of the account.
    @Loop private func ageAccount(_ auth: AuthStage) async throws {
        for table in ["devices", "sessions"] {
            try await auth.stage.rows("UPDATE \(table) SET created_at = created_at - interval '73 hours'")
        }
    }

    /// - Returns: the token that the number that was taken off got.
    @Loop private func change(
        to new: String, from old: String, by session: Session, _ social: SocialStage
    ) async throws -> String {
        let (challenge, code) = try await social.changeCode(to: new, by: session)
        _ = try await social.auth.ask(ChangePhone(challengeId: challenge, code: code), as: social.actor(session))
        try await social.waitUntilSent()
        let texts = social.auth.spool.messages().filter { $0["to"]?.stringValue == old }
        let text = try #require(texts.last?["body"]?.stringValue)
        return try #require(text.split { $0 == " " || $0 == "," }.map(String.init).first { $0.hasPrefix("dt_") })
    }

    @Loop private func phone(_ social: SocialStage) async throws -> String {
        try await social.auth.age("20 minutes")
        let records = try await social.auth.stage.rows("SELECT encode(hash, 'hex') FROM phones")
        return records
    }

    @Test func anUndoReturnsTheNumberAndEndsLaterSessions() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let before = try await auth.signIn(Self.old, push: "fcm:desk")
            let hash = try await phone(social)
            let takeover = try await takeOver(social)
            // The thief signs in with the new number, and links an identity.
            let thief = try await auth.signIn(Self.new, push: "fcm:thief")
            #expect(thief.user.id == before.user.id)
            _ = try await social.link("google", subject: "thief", to: Self.new)
            let undone = try await auth.ask(UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof))
            #expect(undone.maskedPhone == "+1 (***) ***-2671")
            #expect(try await phone(social) == hash)
            for (session, isAlive) in [
                (before, true), (takeover.tablet, true), (takeover.stolen, false), (thief, false),
            ] {
                #expect(try await auth.ask(CheckSession(sessionID: session.sessionId)).isActive == isAlive)
            }
            #expect(try await auth.stage.rows("SELECT count(*) FROM identities") == "0")
            #expect(
                try await auth.stage.rows("SELECT count(*) FROM phone_aliases") == "0", "the thief's is no way back")
            let secret = try #require(thief.deviceSecret)
            let again = DeviceClaim(id: thief.deviceId, secret: secret, name: "n", platform: "ios")
            let (challenge, code) = try await auth.code(again: Self.old)
            let owner = try await auth.ask(VerifyOTP(challengeId: challenge, code: code, device: again))
            #expect(owner.user.id == before.user.id && owner.deviceId != thief.deviceId, "its device is known no more")
            #expect(
                try await auth.stage.rows("SELECT count(*) FROM audit WHERE act = 'phone_change_undone'") == "1")
            #expect(
                try await auth.stage.rows(
                    "SELECT count(*) FROM audit WHERE act = 'session_ended' AND details LIKE '%\"undone\"%'") != "0")
            let twice = try await auth.refusal(
                of: UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof))
            #expect(twice.code == "not_found", "once")
            try await social.waitUntilSent()
            let told = auth.spool.pushes().filter { $0["data"]?["kind"] == "phone_change_undone" }
            #expect(
                Set(told.compactMap { $0["pushToken"]?.stringValue })
                    == ["fcm:desk", "fcm:tablet", "fcm:stolen"])
        }
    }

    /// A thief who has the SIM signs in first, and changes the number in a later session.
    @Test func anUndoEndsAThiefsSessionsFromBeforeTheChange() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let tablet = try await auth.signIn(Self.old, push: "fcm:tablet")
            try await ageAccount(auth)
            let first = try await auth.signIn(Self.old, push: "fcm:thief")
            let linked = try await social.link("google", subject: "thief", to: Self.old)
            let second = try await auth.signIn(Self.old, push: "fcm:second")
            let token = try await change(to: Self.new, from: Self.old, by: second, social)
            for thief in [first, linked, second] {
                let known = SendOTP.Proof(id: thief.deviceId, secret: try #require(thief.deviceSecret))
                let undo = UndoPhoneChange(disputeToken: token, device: known)
                #expect(try await auth.refusal(of: undo).code == "forbidden", "it was not known for long")
            }
            #expect(
                try await auth.refusal(of: UndoPhoneChange(disputeToken: token), as: auth.actor(first)).code
                    == "forbidden")
            let proof = SendOTP.Proof(id: tablet.deviceId, secret: try #require(tablet.deviceSecret))
            _ = try await auth.ask(UndoPhoneChange(disputeToken: token, device: proof))
            for (session, isAlive) in [(tablet, true), (first, false), (linked, false), (second, false)] {
                #expect(try await auth.ask(CheckSession(sessionID: session.sessionId)).isActive == isAlive)
            }
            #expect(try await auth.stage.rows("SELECT count(*) FROM identities") == "0")
            #expect(
                try await auth.stage.rows("SELECT id FROM devices WHERE removed_at IS NULL")
                    == tablet.deviceId.description)
        }
    }

    /// A thief who gets one relayed code removes the owner's devices before changing the number.
    @Test func aDeviceRemovedByTheThiefStillUndoesTheChange() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let tablet = try await auth.signIn(Self.old, push: "fcm:tablet")
            try await ageAccount(auth)
            let thief = try await auth.signIn(Self.old, push: "fcm:thief")
            _ = try await auth.ask(RemoveDevice(deviceId: tablet.deviceId), as: auth.actor(thief))
            let token = try await change(to: Self.new, from: Self.old, by: thief, social)
            let proof = SendOTP.Proof(id: tablet.deviceId, secret: try #require(tablet.deviceSecret))
            let wrong = SendOTP.Proof(id: tablet.deviceId, secret: "ds_wrong")
            #expect(
                try await auth.refusal(of: UndoPhoneChange(disputeToken: token, device: wrong)).code == "forbidden")
            let undone = try await auth.ask(UndoPhoneChange(disputeToken: token, device: proof))
            #expect(undone.maskedPhone == "+1 (***) ***-2671")
            #expect(try await auth.ask(CheckSession(sessionID: thief.sessionId)).isActive == false)
            #expect(
                try await auth.stage.rows("SELECT id FROM devices WHERE removed_at IS NULL")
                    == tablet.deviceId.description, "it is known again")
            // The device keeps its secret, so the owner can sign in with it.
            let (challenge, code) = try await auth.code(again: Self.old)
            let claim = DeviceClaim(id: tablet.deviceId, secret: tablet.deviceSecret, name: "n", platform: "ios")
            let owner = try await auth.ask(VerifyOTP(challengeId: challenge, code: code, device: claim))
            #expect(owner.deviceId == tablet.deviceId)
        }
    }

    /// Acts of a device that the account has known for three days count as acts of the owner.
    @Test(
        "a device that its owner removed undoes nothing",
        arguments: ["by itself", "by an older one", "by a younger one"])
    func ownRemoval(by whom: String) async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let first = try await auth.signIn(Self.old, push: "fcm:first")
            let second = try await auth.signIn(Self.old, push: "fcm:second")
            try await ageAccount(auth)
            let (removed, by) =
                switch whom {
                case "by itself": (first, first)
                case "by an older one": (second, first)
                default: (first, second)
                }
            _ = try await auth.ask(RemoveDevice(deviceId: removed.deviceId), as: auth.actor(by))
            #expect(
                try await auth.stage.rows("SELECT removed_by_device_id FROM devices WHERE id = '\(removed.deviceId)'")
                    == by.deviceId.description)
            let thief = try await auth.signIn(Self.old, push: "fcm:thief")
            let token = try await change(to: Self.new, from: Self.old, by: thief, social)
            let proof = SendOTP.Proof(id: removed.deviceId, secret: try #require(removed.deviceSecret))
            #expect(
                try await auth.refusal(of: UndoPhoneChange(disputeToken: token, device: proof)).code == "forbidden")
        }
    }

    /// A code by email is weaker than the number. So whoever reads the owner's emails takes no change back, however long
    /// their device has been there.
    @Test func aDeviceSignedInByMailboxUndoesNoChange() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(Self.old, push: "fcm:owner")
            let (linking, digits) = try await auth.email(
                SendEmailCode(email: "anna@example.com", purpose: "link_email"), as: auth.actor(owner))
            _ = try await auth.ask(LinkEmail(challengeId: linking, code: digits), as: auth.actor(owner))
            try await auth.age("2 minutes")
            let reader = try await auth.signIn(byEmail: "anna@example.com")
            #expect(reader.user.id == owner.user.id)
            try await ageAccount(auth)
            let later = try await auth.signIn(Self.old, push: "fcm:later")
            let token = try await change(to: Self.new, from: Self.old, by: later, social)
            let proof = SendOTP.Proof(id: reader.deviceId, secret: try #require(reader.deviceSecret))
            let undo = UndoPhoneChange(disputeToken: token)
            #expect(
                try await auth.refusal(of: UndoPhoneChange(disputeToken: token, device: proof)).code == "forbidden")
            #expect(try await auth.refusal(of: undo, as: auth.actor(reader)).code == "forbidden")
            #expect(try await auth.ask(undo, as: auth.actor(owner)).maskedPhone == "+1 (***) ***-2671")
        }
    }

    @Test func withoutAValidAccessTokenNoNumberIsGivenBack() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            let undo = UndoPhoneChange(disputeToken: takeover.token)
            var options = auth.options(auth.actor(takeover.tablet))
            for token in [nil, takeover.stolen.accessToken, takeover.tablet.accessToken + "x"] {
                options.accessToken = token
                let refused = await #expect(throws: BusError.self) { try await auth.gateway.call(undo, options) }
                #expect(refused?.code == "unauthorized")
            }
            options.accessToken = takeover.tablet.accessToken
            #expect(try await auth.gateway.call(undo, options).maskedPhone == "+1 (***) ***-2671")
        }
    }

    @Test func aFreshCodeUndoesTheChangeAsTheTokenDoes() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            try await auth.age("20 minutes")
            // A code that was asked for to recover an account does no other thing.
            let (other, digits) = try await auth.code(for: Self.old, purpose: "recovery")
            let mistaken = UndoPhoneChange(challengeId: other, code: digits, device: takeover.proof)
            #expect(try await auth.refusal(of: mistaken).code == "otp_expired")
            try await auth.age("20 minutes")
            let (challenge, code, text) = try await auth.sms(SendOTP(phone: Self.old, undoes: "phone_change"))
            #expect(text.contains("\(code) is your Vestibule code to give your account this number back."))
            let wrong = UndoPhoneChange(
                challengeId: challenge, code: AuthStage.wrong(code), device: takeover.proof)
            #expect(try await auth.refusal(of: wrong).code == "otp_invalid")
            let right = UndoPhoneChange(challengeId: challenge, code: code, device: takeover.proof)
            #expect(try await auth.ask(right).maskedPhone == "+1 (***) ***-2671")
            #expect(try await auth.refusal(of: right).code == "otp_expired")
        }
    }

    /// Only the holder of a number learns, by a code to it, whether it was taken off an account.
    @Test func aNumberThatWasNeverChangedLooksTheSame() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let proof = SendOTP.Proof(id: .ordered(), secret: "ds_nothing")
            let (challenge, code, _) = try await auth.sms(SendOTP(phone: Self.third, undoes: "phone_change"))
            let wrong = UndoPhoneChange(challengeId: challenge, code: AuthStage.wrong(code), device: proof)
            #expect(try await auth.refusal(of: wrong).code == "otp_invalid")
            let right = UndoPhoneChange(challengeId: challenge, code: code, device: proof)
            #expect(try await auth.refusal(of: right).code == "not_found")
        }
    }

    @Test func aSessionFromBeforeProvesItsDevice() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            let undo = UndoPhoneChange(disputeToken: takeover.token)
            #expect(try await auth.refusal(of: undo).code == "unauthorized")
            #expect(try await auth.refusal(of: undo, as: auth.actor(takeover.stolen)).code == "forbidden", "it did it")
            let late = try await auth.signIn(Self.new, push: "fcm:late")
            #expect(try await auth.refusal(of: undo, as: auth.actor(late)).code == "forbidden")
            #expect(try await auth.ask(undo, as: auth.actor(takeover.tablet)).maskedPhone == "+1 (***) ***-2671")
        }
    }

    @Test func onlyAKnownDeviceUndoesItWithinThreeDays() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            let thief = try await auth.signIn(Self.new, push: "fcm:thief")
            let stranger = try await auth.signIn("+14155552679")
            for (device, secret) in [
                (thief.deviceId, thief.deviceSecret ?? ""), (stranger.deviceId, stranger.deviceSecret ?? ""),
                (takeover.tablet.deviceId, "ds_wrong"), (.ordered(), takeover.proof.secret),
            ] {
                let undo = UndoPhoneChange(
                    disputeToken: takeover.token, device: SendOTP.Proof(id: device, secret: secret))
                #expect(try await auth.refusal(of: undo).code == "forbidden")
            }
            let guess = UndoPhoneChange(disputeToken: "dt_guess", device: takeover.proof)
            #expect(try await auth.refusal(of: guess).code == "not_found")
            for malformed in [
                UndoPhoneChange(device: takeover.proof),
                UndoPhoneChange(disputeToken: "dt_x", challengeId: .ordered(), code: "000000", device: takeover.proof),
            ] {
                #expect(try await auth.refusal(of: malformed).code == "validation_failed")
            }
            let undo = UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof)
            try await auth.stage.rows(
                "UPDATE phone_aliases SET taken_off_at = taken_off_at - interval '71 hours 59 minutes'")
            // Its device was known for longer than that.
            try await auth.stage.rows("UPDATE devices SET created_at = created_at - interval '100 days'")
            try await auth.stage.rows("UPDATE phone_aliases SET taken_off_at = taken_off_at - interval '1 minute'")
            #expect(try await auth.refusal(of: undo).code == "not_found")
            try await auth.stage.rows("UPDATE phone_aliases SET taken_off_at = taken_off_at + interval '2 minutes'")
            #expect(try await auth.ask(undo).maskedPhone == "+1 (***) ***-2671")
        }
    }

    @Test func aSecondChangeByTheThiefIsUndoneToo() async throws {
        try await SocialStage.run { social in
            let takeover = try await takeOver(social)
            _ = try await change(to: Self.third, from: Self.new, by: takeover.stolen, social)
            let undo = UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof)
            #expect(try await social.auth.ask(undo).maskedPhone == "+1 (***) ***-2671")
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM phone_aliases") == "0")
        }
    }

    @Test func noUndoDuringARecoveryOrOnceTheNumberIsTaken() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            let undo = UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof)
            try await auth.stage.rows(
                """
                INSERT INTO freezes (case_id, person_id, until, begun, created_at)
                VALUES (
                    gen_random_uuid(), '\(takeover.tablet.user.id)', now() + interval '1 hour', '{}',
                    now() - interval '1 day')
                """)
            #expect(try await auth.refusal(of: undo).code == "account_frozen")
            // The freeze of a recovery that has moved the account since.
            try await auth.stage.rows("UPDATE freezes SET created_at = now(), applied_at = now()")
            #expect(try await auth.refusal(of: undo).code == "account_frozen")
            // The thief begins a recovery, so that the time for an undo runs out. It does not block the undo.
            try await auth.stage.rows("UPDATE freezes SET applied_at = NULL")
            try await auth.age("20 minutes")
            #expect(try await auth.signIn(Self.old).isNewUser)
            #expect(try await auth.refusal(of: undo).code == "phone_in_use")
        }
    }

    @Test func oneOfManyConcurrentUndosSucceeds() async throws {
        try await SocialStage.run(replicas: 2) { social in
            let takeover = try await takeOver(social)
            let undo = UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof)
            let tasks = (0..<8).map { _ in
                Loop.spawn { () -> String in
                    do {
                        return try await patiently { try await social.auth.ask(undo).maskedPhone }
                    } catch let error as BusError {
                        return error.code
                    }
                }
            }
            var outcomes: [String: Int] = [:]
            for task in tasks { outcomes[try await task.value, default: 0] += 1 }
            #expect(outcomes == ["+1 (***) ***-2671": 1, "not_found": 7])
            #expect(
                try await social.auth.stage.rows("SELECT count(*) FROM audit WHERE act = 'phone_change_undone'") == "1")
        }
    }
}
