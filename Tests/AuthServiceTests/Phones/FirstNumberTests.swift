import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// A thief who reads a person's emails can set the first number of their account. The owner takes it off.
@Suite("taking off a first number") struct FirstNumberTests {
    private static let (email, thiefs, later) = ("anna@example.com", "+46701234567", "+46701234568")

    private struct PhoneTakeover {
        let owner: Session
        let thief: Session
        let proof: SendOTP.Proof
        /// The token in the email to the address.
        let token: String
    }

    /// The owner has the account since long. The thief reads the emails, signs in, and sets a number.
    @Loop private func takeOver(_ social: SocialStage) async throws -> PhoneTakeover {
        let auth = social.auth
        let owner = try await auth.signIn(byEmail: Self.email)
        try await ageAccount(auth)
        try await auth.age("2 hours")
        let thief = try await auth.signIn(byEmail: Self.email)
        try await setNumber(Self.thiefs, by: thief, social)
        let proof = SendOTP.Proof(id: owner.deviceId, secret: try #require(owner.deviceSecret))
        return PhoneTakeover(owner: owner, thief: thief, proof: proof, token: try #require(token(auth)))
    }

    /// Ages the devices, sessions and links of the account.
    @Loop private func ageAccount(_ auth: AuthStage) async throws {
        try await auth.stage.rows(
            """
            UPDATE devices SET created_at = created_at - interval '73 hours';
            UPDATE sessions SET created_at = created_at - interval '73 hours';
            UPDATE emails SET linked_at = linked_at - interval '73 hours';
            UPDATE identities SET linked_at = linked_at - interval '73 hours'
            """)
    }

    @Loop private func setNumber(_ number: String, by session: Session, _ social: SocialStage) async throws {
        let (challenge, code) = try await social.changeCode(to: number, by: session)
        _ = try await social.auth.ask(ChangePhone(challengeId: challenge, code: code), as: social.actor(session))
        try await social.waitUntilSent()
    }

    /// The token that the address got last; `nil` if it got none.
    private func token(_ auth: AuthStage) -> String? {
        let bodies = auth.spool.emails().filter { $0["to"]?.stringValue == Self.email }.map {
            $0["body"]?.stringValue ?? ""
        }
        return bodies.last?.split { $0 == " " || $0 == "," }.map(String.init).first { $0.hasPrefix("dt_") }
    }

    @Loop private func numbers(_ auth: AuthStage) async throws -> String {
        try await auth.stage.rows("SELECT count(*) FROM phones")
    }

    @Test func aKnownDeviceRemovesAThiefsFirstNumberAndItsSessions() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            let bySMS = try await auth.signIn(Self.thiefs, push: "fcm:thief")
            #expect(bySMS.user.id == takeover.owner.user.id)
            _ = try await social.link("google", subject: "thief", to: Self.thiefs)
            let frozen = try await auth.refusal(of: UnlinkEmail(), as: auth.actor(bySMS))
            #expect(frozen.code == "account_frozen" && frozen.retryAfterMs ?? 0 > 258_000_000, "the owner needs it")
            let undo = UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof)
            #expect(try await auth.ask(undo).maskedPhone == "none")
            #expect(try await numbers(auth) == "0")
            #expect(try await auth.stage.rows("SELECT count(*) FROM identities") == "0")
            for (session, isAlive) in [(takeover.owner, true), (takeover.thief, false), (bySMS, false)] {
                #expect(try await auth.ask(CheckSession(sessionID: session.sessionId)).isActive == isAlive)
            }
            #expect(try await auth.refusal(of: undo).code == "not_found", "once")
            try await auth.age("2 hours")
            let again = try await auth.signIn(byEmail: Self.email)
            #expect(again.user.id == takeover.owner.user.id)
            #expect(try await auth.refusal(of: UnlinkEmail(), as: auth.actor(again)).code == "last_way_in")
        }
    }

    @Test func aFreshEmailCodeRemovesTheNumberAsTheTokenDoes() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            try await auth.age("2 hours")
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email, undoes: "phone_change"))
            let signIn = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, app: SignInRulesOfTests.free)
            #expect(try await auth.refusal(of: signIn).code == "otp_expired", "it does no other thing")
            let undo = UndoPhoneChange(challengeId: challenge, code: code, device: takeover.proof)
            #expect(try await auth.ask(undo).maskedPhone == "none")
            #expect(try await numbers(auth) == "0")
            try await auth.age("2 hours")
            let (other, digits) = try await auth.email(
                SendEmailCode(email: "nobody@example.com", undoes: "phone_change"))
            let nothing = UndoPhoneChange(challengeId: other, code: digits, device: takeover.proof)
            #expect(try await auth.refusal(of: nothing).code == "not_found")
            let both = SendEmailCode(email: Self.email, purpose: "login", undoes: "phone_change")
            #expect(try await auth.refusal(of: both).code == "validation_failed")
        }
    }

    @Test func aSecondChangeByTheThiefIsUndoneToo() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            try await setNumber(Self.later, by: try await auth.signIn(Self.thiefs, push: "fcm:thief"), social)
            let undo = UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof)
            #expect(try await auth.ask(undo).maskedPhone == "none")
            #expect(try await numbers(auth) == "0")
            #expect(try await auth.stage.rows("SELECT count(*) FROM phone_aliases") == "0")
        }
    }

    @Test func aDeviceRemovedByTheThiefStillRemovesTheNumber() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(byEmail: Self.email)
            try await ageAccount(auth)
            try await auth.age("2 hours")
            let thief = try await auth.signIn(byEmail: Self.email)
            _ = try await auth.ask(RemoveDevice(deviceId: owner.deviceId), as: auth.actor(thief))
            try await setNumber(Self.thiefs, by: thief, social)
            let proof = SendOTP.Proof(id: owner.deviceId, secret: try #require(owner.deviceSecret))
            let undo = UndoPhoneChange(disputeToken: token(auth), device: proof)
            #expect(try await auth.ask(undo).maskedPhone == "none")
        }
    }

    @Test func onlyADeviceFromBeforeRemovesItWithinThreeDays() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let takeover = try await takeOver(social)
            let young = SendOTP.Proof(id: takeover.thief.deviceId, secret: try #require(takeover.thief.deviceSecret))
            let wrong = SendOTP.Proof(id: takeover.owner.deviceId, secret: "ds_wrong")
            for device in [young, wrong] {
                let undo = UndoPhoneChange(disputeToken: takeover.token, device: device)
                #expect(try await auth.refusal(of: undo).code == "forbidden")
            }
            try await auth.stage.rows("UPDATE emails SET first_number_at = first_number_at - interval '72 hours'")
            let late = UndoPhoneChange(disputeToken: takeover.token, device: takeover.proof)
            #expect(try await auth.refusal(of: late).code == "not_found")
            let bySMS = try await auth.signIn(Self.thiefs, push: "fcm:thief")
            _ = try await auth.ask(UnlinkEmail(), as: auth.actor(bySMS))
        }
    }

    /// A code by email is weaker than a linked identity. So only a device that the identity signed in may remove the
    /// number.
    @Test func aDeviceSignedInByMailboxRemovesNoNumberBesideAnIdentity() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try #require(try await social.session("google", subject: "1", app: SignInRulesOfTests.free))
            let (challenge, code) = try await auth.email(
                SendEmailCode(email: Self.email, purpose: "link_email"), as: auth.actor(owner))
            _ = try await auth.ask(LinkEmail(challengeId: challenge, code: code), as: auth.actor(owner))
            try await auth.age("2 hours")
            let reader = try await auth.signIn(byEmail: Self.email)
            try await ageAccount(auth)
            let fresh = try #require(try await social.session("google", subject: "1", app: SignInRulesOfTests.free))
            try await setNumber(Self.thiefs, by: fresh, social)
            for (session, outcome) in [(reader, "forbidden"), (owner, "none")] {
                let device = SendOTP.Proof(id: session.deviceId, secret: try #require(session.deviceSecret))
                let undo = UndoPhoneChange(disputeToken: token(auth), device: device)
                do {
                    #expect(try await auth.ask(undo).maskedPhone == outcome)
                } catch let error as BusError {
                    #expect(error.code == outcome)
                }
            }
        }
    }

    /// A new address may be a thief's. A new account has no earlier device.
    @Test func aNewAddressRemovesNoNumberAndCanBeUnlinked() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(byEmail: Self.email)
            try await setNumber(Self.later, by: owner, social)
            #expect(token(auth) == nil)
            let bySMS = try await auth.signIn(Self.later, push: "fcm:later")
            _ = try await auth.ask(UnlinkEmail(), as: auth.actor(bySMS))
        }
    }

    /// Signs in to an app that wants a number of everybody, and gives it one.
    @Loop private func setNumber(
        _ number: String, signingInOn device: DeviceClaim, _ social: SocialStage
    ) async throws -> Session {
        let auth = social.auth
        let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
        let verify = VerifyEmailCode(challengeId: challenge, code: code, device: device)
        guard case .phoneVerificationRequired(let wanted) = try await auth.ask(verify) else {
            throw BusError(.internalError, "no phone is wanted")
        }
        let link = try await social.linkCode(wanted.linkToken, to: number)
        let session = try await auth.ask(
            VerifyOTP(challengeId: link.challenge, code: link.code, device: device, confirmLink: true))
        try await social.waitUntilSent()
        return session
    }

    /// Otherwise a reader of the emails with a session of three days would evict the owner.
    @Test("a number that a known device set stays", arguments: [false, true])
    func aNumberSetByAKnownDeviceStays(bySignIn: Bool) async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let thief = try await auth.signIn(byEmail: Self.email)
            try await auth.age("2 hours")
            var owner = try await auth.signIn(byEmail: Self.email)
            let known = DeviceClaim(
                id: owner.deviceId, secret: owner.deviceSecret, name: "phone", platform: "ios", pushToken: "t1")
            try await ageAccount(auth)
            try await auth.age("2 hours")
            if bySignIn {
                owner = try await setNumber(Self.later, signingInOn: known, social)
            } else {
                owner = try await auth.signIn(byEmail: Self.email, on: known)
                try await setNumber(Self.later, by: owner, social)
            }
            #expect(token(auth) == nil)
            let push = auth.spool.pushes().last { $0["data"]?["kind"] == "phone_changed" }
            #expect(push?["data"]?["undoneBy"] == "none")
            #expect(push?["body"]?.stringValue?.hasSuffix("If it was not you, contact support now.") == true)
            try await auth.age("2 hours")
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email, undoes: "phone_change"))
            let proof = SendOTP.Proof(id: thief.deviceId, secret: try #require(thief.deviceSecret))
            let undo = UndoPhoneChange(challengeId: challenge, code: code, device: proof)
            #expect(try await auth.refusal(of: undo).code == "not_found")
            #expect(try await numbers(auth) == "1")
            #expect(try await auth.ask(CheckSession(sessionID: owner.sessionId)).isActive)
        }
    }

    /// Where an app wants a number of everybody, a sign-in sets the first one.
    @Test func aFirstNumberSetByASignInIsRemovedToo() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await auth.signIn(byEmail: Self.email)
            try await ageAccount(auth)
            try await auth.age("2 hours")
            let thief = try await setNumber(Self.thiefs, signingInOn: AuthStage.device, social)
            #expect(thief.user.id == owner.user.id)
            let proof = SendOTP.Proof(id: owner.deviceId, secret: try #require(owner.deviceSecret))
            let undo = UndoPhoneChange(disputeToken: token(auth), device: proof)
            #expect(try await auth.ask(undo).maskedPhone == "none")
            #expect(try await !auth.ask(CheckSession(sessionID: thief.sessionId)).isActive)
        }
    }
}
