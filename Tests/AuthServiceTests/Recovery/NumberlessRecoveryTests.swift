import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// An account without a number is recovered by its email address or by a linked identity.
@Suite("recovery without a number") struct NumberlessRecoveryTests {
    private static let (email, new) = ("anna@example.com", "anna@example.org")
    private static let (phone, other) = ("+14155552671", "+46701234567")

    /// An account that Google opens, with an email address that its app does not ask for.
    @Loop private func owner(_ social: SocialStage) async throws -> Session {
        let auth = social.auth
        let owner = try #require(try await social.session("google", subject: "1", app: SignInRulesOfTests.free))
        let (challenge, code) = try await auth.email(
            SendEmailCode(email: Self.email, purpose: "link_email"), as: auth.actor(owner))
        _ = try await auth.ask(LinkEmail(challengeId: challenge, code: code), as: auth.actor(owner))
        return owner
    }

    /// Ages the devices and linked identities by the length of a hold.
    @Loop private func ageAccount(_ auth: AuthStage) async throws {
        try await auth.stage.rows(
            """
            UPDATE devices SET created_at = created_at - interval '72 hours';
            UPDATE identities SET linked_at = linked_at - interval '72 hours'
            """)
    }

    @Loop private func proof(_ social: SocialStage) async throws -> IdentityProof {
        let nonce = try await social.nonce("google")
        return IdentityProof(
            provider: "google", identityToken: social.forge.token("google", subject: "1", nonce: nonce), nonce: nonce)
    }

    /// A code for a recovery, to a mailbox or a phone.
    @Loop private func code(
        to claimant: String, _ auth: AuthStage
    ) async throws -> (challenge: Identifier, code: String) {
        try await auth.age("2 hours")
        guard claimant.contains("@") else { return try await auth.code(for: claimant, purpose: "recovery") }
        return try await auth.email(SendEmailCode(email: claimant, recovery: .init()))
    }

    @Loop private func request(
        _ auth: AuthStage, phone: String? = nil, email: String? = nil, by claimant: String,
        device: DeviceClaim = AuthStage.device, identity: IdentityProof? = nil
    ) async throws -> BeginRecovery {
        let (challenge, code) = try await code(to: claimant, auth)
        return BeginRecovery(
            caseID: .ordered(), accountPhone: phone, accountEmail: email, challengeID: challenge, code: code,
            device: device, freezeSeconds: 86_400, identity: identity)
    }

    @Loop private func claim(
        _ auth: AuthStage, email: String? = nil, by claimant: String, device: DeviceClaim = AuthStage.device,
        identity: IdentityProof? = nil
    ) async throws -> RecoveryBegun {
        let begin = try await request(auth, email: email, by: claimant, device: device, identity: identity)
        return try await auth.stage.asking(as: .recovery).call(begin, auth.options())
    }

    @Loop private func complete(
        _ begun: RecoveryBegun, by claimant: String, _ auth: AuthStage
    ) async throws -> Session {
        let (challenge, code) = try await code(to: claimant, auth)
        let apply = ApplyRecovery(caseID: begun.caseID, challengeID: challenge, code: code, device: AuthStage.device)
        let held = try await auth.refusal(of: apply, from: .recovery)
        #expect(held.code == "recovery_not_ready", "a mailbox moves no account before the hold is over")
        try await auth.endHolds()
        return try await auth.stage.asking(as: .recovery).call(apply, auth.options()).session
    }

    @Test func theAccountsOwnMailboxRecoversItAfterTheHold() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await owner(social)
            let begun = try await claim(auth, email: Self.email, by: Self.email)
            #expect(begun.accountID == owner.user.id && begun.proof == nil, "whoever reads emails has no proof")
            #expect(begun.maskedClaimantPhone == "a…@e…")
            let unlink = UnlinkEmail()
            #expect(try await auth.refusal(of: unlink, as: auth.actor(owner)).code == "account_frozen")
            let session = try await complete(begun, by: Self.email, auth)
            #expect(session.user.id == owner.user.id)
            #expect(try await !auth.ask(CheckSession(sessionID: owner.sessionId)).isActive)
            let kept = "SELECT count(*) FROM emails e, identities i WHERE i.to_confirm_since IS NOT NULL"
            #expect(try await auth.stage.rows(kept) == "1", "the identity waits for a confirmation")
            try await auth.age("2 hours")
            #expect(try await auth.signIn(byEmail: Self.email).user.id == owner.user.id)
        }
    }

    /// Anybody can make mailboxes. If one were enough, an account could be kept frozen for nothing.
    @Test func aNewMailboxNeedsAnotherProof() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await owner(social)
            let stranger = try await claim(auth, email: Self.email, by: Self.new)
            #expect(stranger.accountID == nil && stranger.isStaff == nil)
            #expect(try await auth.stage.rows("SELECT count(person_id) FROM freezes") == "0")
            let known = DeviceClaim(
                id: owner.deviceId, secret: owner.deviceSecret, name: "Pixel 9", platform: "android")
            #expect(try await claim(auth, email: Self.email, by: Self.new, device: known).accountID == nil, "too young")
            try await ageAccount(auth)
            let proven = try await claim(auth, email: Self.email, by: Self.new, device: known)
            #expect(proven.accountID == owner.user.id && proven.proof == "device")
        }
    }

    @Test func aLinkedIdentityNamesTheAccountAndProvesTheClaim() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await owner(social)
            try await ageAccount(auth)
            let begun = try await claim(auth, by: Self.new, identity: try await proof(social))
            #expect(begun.accountID == owner.user.id && begun.proof == "linked_identity")
            let session = try await complete(begun, by: Self.new, auth)
            #expect(session.user.id == owner.user.id)
            let isTold = try await eventually {
                auth.spool.emails().contains {
                    $0["to"]?.stringValue == Self.email
                        && $0["body"]?.stringValue?.contains("has the email address a…@e… now") == true
                }
            }
            #expect(isTold, "the former address")
            try await auth.age("2 hours")
            #expect(try await auth.signIn(byEmail: Self.new).user.id == owner.user.id)
            #expect(try await auth.signIn(byEmail: Self.email).user.id != owner.user.id)
        }
    }

    @Test func aNumberRecoversItToo() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await owner(social)
            let begun = try await claim(auth, email: Self.email, by: Self.other)
            #expect(begun.accountID == owner.user.id && begun.maskedClaimantPhone == "+46 (***) ***-4567")
            #expect(try await complete(begun, by: Self.other, auth).user.id == owner.user.id)
            #expect(try await auth.stage.rows("SELECT count(*) FROM phones") == "1")
            #expect(try await auth.stage.rows("SELECT count(*) FROM emails") == "0")
        }
    }

    /// An account is never as weak as its weakest way in.
    @Test func anAccountWithANumberIsRecoveredByANumberOnly() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await social.link("google", subject: "1", to: Self.phone)
            let (challenge, code) = try await auth.email(
                SendEmailCode(email: Self.email, purpose: "link_email"), as: auth.actor(owner))
            _ = try await auth.ask(LinkEmail(challengeId: challenge, code: code), as: auth.actor(owner))
            try await ageAccount(auth)
            #expect(try await claim(auth, email: Self.email, by: Self.other).accountID == nil)
            #expect(try await claim(auth, by: "+46701234568", identity: try await proof(social)).accountID == nil)
            let byNumber = try await request(auth, phone: Self.phone, by: Self.new)
            #expect(try await auth.refusal(of: byNumber, from: .recovery).code == "otp_expired")
            #expect(try await auth.stage.rows("SELECT count(person_id) FROM freezes") == "0")
        }
    }

    /// Recovery bars and counts a claimant by these. They do not tell whether there is an account.
    @Test func aClaimantIsKnownAgainByMailboxDeviceAndIdentity() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await owner(social)
            try await ageAccount(auth)
            let device = DeviceClaim(
                id: owner.deviceId, secret: owner.deviceSecret, name: "Pixel 9", platform: "android")
            let real = try await claim(
                auth, email: Self.email, by: "anna@gmail.com", device: device, identity: try await proof(social))
            let none = try await claim(
                auth, email: "nobody@example.com", by: "An.na+2@googlemail.com", device: device,
                identity: try await proof(social))
            #expect(real.accountID == owner.user.id && none.accountID == nil)
            #expect(real.claimantReference != none.claimantReference)
            #expect(real.claimantMailbox != nil && real.claimantMailbox == none.claimantMailbox)
            #expect(real.claimantProofs?.count == 2 && real.claimantProofs == none.claimantProofs)
            let other = try await claim(auth, email: Self.email, by: Self.other)
            #expect(other.claimantMailbox == nil && other.claimantProofs == [])
            // At this host, the other spelling may be another person's mailbox.
            let spelled = try await claim(auth, email: Self.email, by: "an.na+2@example.org", device: device)
            #expect(spelled.claimantMailbox == nil)
        }
    }

    @Test func theAnswerIsTheSameWithAnAccountAndWithout() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            _ = try await owner(social)
            let real = try await claim(auth, email: Self.email, by: Self.other)
            let none = try await claim(auth, email: "nobody@example.com", by: Self.other)
            #expect(none.accountID == nil && none.accountReference != real.accountReference)
            #expect(none.claimantReference == real.claimantReference)
            // An identity token whose nonce auth did not issue is refused. The refusal reveals nothing about an
            // account.
            let unknown = IdentityProof(
                provider: "google", identityToken: social.forge.token("google", subject: "2", nonce: "nc"), nonce: "nc")
            let begin = try await request(auth, by: Self.new, identity: unknown)
            #expect(try await auth.refusal(of: begin, from: .recovery).code == "identity_token_invalid")
        }
    }

    @Test func aMailboxCannotBothClaimAndHaveAnAccount() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            _ = try await owner(social)
            _ = try await claim(auth, email: Self.email, by: Self.new)
            try await auth.age("2 hours")
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.new))
            let verify = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, app: SignInRulesOfTests.free)
            #expect(try await auth.refusal(of: verify).code == "recovery_in_progress")
            try await auth.age("2 hours")
            _ = try await auth.signIn(byEmail: "axel@example.com")
            let own = try await request(auth, email: Self.email, by: "axel@example.com")
            #expect(try await auth.refusal(of: own, from: .recovery).code == "claimant_has_account")
        }
    }

    @Test func theEmailNamesTheAccountAndItsCodeDoesNothingElse() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await owner(social)
            try await auth.age("2 hours")
            let named = SendEmailCode(email: Self.new, recovery: .init(accountEmail: Self.email))
            let (challenge, code) = try await auth.email(named)
            let text = auth.spool.emails().last { $0["to"]?.stringValue == Self.new }?["body"]?.stringValue
            #expect(text?.contains("to recover the account a…@e….") == true)
            let signIn = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, app: SignInRulesOfTests.free)
            #expect(try await auth.refusal(of: signIn).code == "otp_expired")
            let begin = BeginRecovery(
                caseID: .ordered(), accountEmail: "nobody@example.com", challengeID: challenge, code: code,
                device: AuthStage.device, freezeSeconds: 60)
            #expect(try await auth.refusal(of: begin, from: .recovery).code == "otp_expired", "of another account")
            let sms = try await auth.sms(
                SendOTP(phone: Self.other, purpose: "recovery", accountEmail: Self.email))
            #expect(sms.text.contains("to recover the account a...@e..."))
            let right = BeginRecovery(
                caseID: .ordered(), accountEmail: Self.email, challengeID: sms.challenge, code: sms.code,
                device: AuthStage.device, freezeSeconds: 60)
            let begun = try await auth.stage.asking(as: .recovery).call(right, auth.options())
            #expect(begun.accountID == owner.user.id)
        }
    }

    @Test func contradictoryMembersAreRefused() async throws {
        try await AuthStage.run { auth in
            let codes: [SendOTP] = [
                SendOTP(phone: Self.other, accountEmail: Self.email),
                SendOTP(phone: Self.other, purpose: "recovery", accountPhone: Self.phone, accountEmail: Self.email),
                SendOTP(phone: Self.other, purpose: "recovery", accountEmail: "anna"),
            ]
            for code in codes {
                let refused = try await auth.refusal(of: code)
                #expect(refused.code == "validation_failed")
            }
            for recovery in [SendEmailCode.Recovery(), .init(accountEmail: "anna")] {
                let purpose = recovery.accountEmail == nil ? "login" : nil
                let code = SendEmailCode(email: Self.new, purpose: purpose, recovery: recovery)
                let refused = try await auth.refusal(of: code)
                #expect(refused.code == "validation_failed")
            }
            for (phone, email) in [(nil, nil), (Self.phone, Self.email), (nil, "anna")] as [(String?, String?)] {
                let begin = BeginRecovery(
                    caseID: .ordered(), accountPhone: phone, accountEmail: email, challengeID: .ordered(),
                    code: "000000", device: AuthStage.device, freezeSeconds: 60)
                let refused = try await auth.refusal(of: begin, from: .recovery)
                #expect(refused.code == "validation_failed")
            }
        }
    }

    /// The owner may dispute by the email. A claimant with the mailbox itself gets none.
    @Test func theMailboxIsNotifiedOfAClaimUnlessItIsTheClaimant() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try await owner(social)
            let byOther = try await claim(auth, email: Self.email, by: Self.other)
            let byItself = try await claim(auth, email: Self.email, by: Self.email)
            for (sequence, begun) in [(Int64(1), byOther), (2, byItself)] {
                let event = NotifyPerson(
                    notificationID: .ordered(), personID: owner.user.id, personSequence: sequence,
                    kind: "recovery_requested",
                    data: [
                        "disputeToken": "dt_\(sequence)", "recoveryId": begun.caseID.description,
                        "claimantPhone": begun.maskedClaimantPhone,
                    ], smsUnlessHeldBy: [begun.claimantReference])
                _ = try await auth.stage.asking(as: .recovery).call(event, auth.options())
            }
            try await social.waitUntilSent()
            let told = auth.spool.emails().filter { $0["subject"]?.stringValue == "Is this you?" }
            #expect(told.count == 1 && told[0]["to"]?.stringValue == Self.email)
            let text = told.first?["body"]?.stringValue ?? ""
            #expect(text.contains("Somebody with the number +46 (***) ***-4567 asked") && text.contains("dt_1"))
        }
    }

    /// Otherwise the length of the hold would tell that there is no account.
    @Test func anAccountWithoutANumberSleepsAsOneWithANumberDoes() async throws {
        try await AuthStage.run(environment: ["AUTH_DORMANT_AFTER": "720h"]) { auth in
            _ = try await auth.signIn(byEmail: Self.email)
            #expect(try await claim(auth, email: Self.email, by: Self.email).isDormant == false)
            for (table, column) in [("devices", "last_used_at"), ("sessions", "last_used_at"), ("emails", "linked_at")]
            {
                try await auth.stage.rows("UPDATE \(table) SET \(column) = \(column) - interval '721 hours'")
            }
            #expect(try await claim(auth, email: Self.email, by: Self.email).isDormant == true)
        }
    }
}
