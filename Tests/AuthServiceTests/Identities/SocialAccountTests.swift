import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import AuthService

@Suite("an identity alone") struct SocialAccountTests {
    private static let phone = "+14155552671"

    @Loop private func session(_ subject: String, _ social: SocialStage) async throws -> Session? {
        try await social.session("google", subject: subject, app: SignInRulesOfTests.free)
    }

    @Test func makesAnAccountIfTheAppNeedsNoPhone() async throws {
        try await SocialStage.run { social in
            let first = try #require(try await session("1", social))
            #expect(first.isNewUser)
            let second = try #require(try await session("1", social))
            #expect(!second.isNewUser && second.user.id == first.user.id)
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM accounts, identities") == "1")
            // It is the last way in, and without a number it is fresh.
            let unlink = UnlinkIdentity(provider: "google")
            #expect(try await social.auth.refusal(of: unlink, as: social.actor(second)).code == "last_way_in")
        }
    }

    /// What a provider says of a person is offered once and saved nowhere.
    @Test("a name and a picture are offered and not saved", arguments: [true, false])
    func prefill(isFree: Bool) async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let app = isFree ? SignInRulesOfTests.free : nil
            @Loop func signIn(_ name: String, _ picture: String) async throws -> (SocialSignedIn, SignInPrefill?) {
                let nonce = try await social.nonce("google")
                let claims = social.forge.claims("google", subject: "1", nonce: nonce)
                    .merging(["name": .string(name), "picture": .string(picture)]) { $1 }
                let token = social.forge.sign(social.forge.header, .object(claims))
                let answer = try await auth.ask(
                    SignInWithGoogle(identityToken: token, nonce: nonce, device: AuthStage.device, app: app))
                switch answer {
                case .session(let session): return (answer, session.prefill)
                case .phoneVerificationRequired(let wanted): return (answer, wanted.prefill)
                }
            }
            let picture = "https://pictures.example/zoe"
            let (answer, prefill) = try await signIn(" Zoë Prefilled ", picture)
            #expect(prefill == SignInPrefill(name: "Zoë Prefilled", picture: picture))
            if case .session = answer { #expect(isFree) } else { #expect(!isFree) }
            let tables = try await auth.stage.rows(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
            for table in tables.split(separator: "\n") {
                let rows = try await auth.stage.rows("SELECT row_to_json(t)::text FROM \"\(table)\" t")
                #expect(!rows.contains("Prefilled") && !rows.contains("pictures.example"), "\(table)")
            }
            #expect(!auth.stage.log.text.contains("Prefilled"))
            let (_, second) = try await signIn("\u{1b}[2J", "http://pictures.example/zoe")
            #expect(second == nil, "not usable, or not new any more")
        }
    }

    @Test func concurrentSignInsMakeOneAccount() async throws {
        try await SocialStage.run(replicas: 2) { social in
            let people = try await atOnce(8) { try await patiently { try await session("1", social)?.user.id } }
            #expect(Set(people).count == 1 && people.first != nil)
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM accounts") == "1")
        }
    }

    /// A thief who reads the person's emails cannot set the account's first number.
    @Test func aSessionByMailboxSetsNoNumberAndUnlinksNoIdentity() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let owner = try #require(try await session("1", social))
            let (challenge, code) = try await auth.email(
                SendEmailCode(email: "anna@example.com", purpose: "link_email"), as: auth.actor(owner))
            _ = try await auth.ask(LinkEmail(challengeId: challenge, code: code), as: auth.actor(owner))
            try await auth.age("2 minutes")
            let thief = try await auth.signIn(byEmail: "anna@example.com")
            #expect(thief.user.id == owner.user.id)
            let change = SendOTP(phone: Self.phone, purpose: "change_phone")
            let refused = try await auth.refusal(of: change, as: auth.actor(thief))
            #expect(refused.code == "reauthentication_required")
            let unlink = UnlinkIdentity(provider: "google")
            #expect(try await auth.refusal(of: unlink, as: auth.actor(thief)).code == "reauthentication_required")
            _ = try await auth.ask(change, as: auth.actor(owner))
            // The thief cannot do so in an app that requires a phone either.
            try await auth.age("2 hours")
            let (again, digits) = try await auth.email(SendEmailCode(email: "anna@example.com"))
            let verify = VerifyEmailCode(challengeId: again, code: digits, device: AuthStage.device)
            guard case .phoneVerificationRequired(let wanted) = try await auth.ask(verify) else {
                Issue.record("An account without a phone was opened.")
                return
            }
            let (adding, sms, _) = try await social.linkCode(wanted.linkToken, to: Self.phone)
            let add = VerifyOTP(challengeId: adding, code: sms, device: AuthStage.device, confirmLink: true)
            #expect(try await auth.refusal(of: add).code == "forbidden")
            #expect(try await auth.stage.rows("SELECT count(*) FROM phones") == "0")
        }
    }

    @Test func addsAPhoneWhenAnotherAppNeedsOne() async throws {
        try await SocialStage.run { social in
            let first = try #require(try await session("1", social))
            guard case .phoneVerificationRequired(let wanted) = try await social.signIn("google", subject: "1") else {
                Issue.record("An account without a phone was opened.")
                return
            }
            try await social.auth.stage.rows("UPDATE accounts SET role = 'staff'")
            let (challenge, code, _) = try await social.linkCode(wanted.linkToken, to: Self.phone)
            let added = try await social.auth.ask(
                VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device))
            #expect(added.user.id == first.user.id)
            // A code to a new number makes nobody staff.
            #expect(try await social.auth.stage.rows("SELECT role FROM accounts") == "user")
            guard case .session(let again) = try await social.signIn("google", subject: "1") else {
                Issue.record("The phone was not added.")
                return
            }
            #expect(again.user.id == first.user.id)
        }
    }
}
