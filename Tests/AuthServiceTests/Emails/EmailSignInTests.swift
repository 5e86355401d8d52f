import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("signing in by email") struct EmailSignInTests {
    private static let email = "anna@example.com"
    private static let phone = "+14155552671"

    @Test func theFirstCodeMakesTheAccountAndTheNextOpensIt() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(byEmail: Self.email)
            #expect(first.isNewUser && first.user.onboardingStatus == "questionnaire_pending")
            try await auth.age("2 minutes")
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            let visit = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, anonymousId: "visitor-1",
                app: SignInRulesOfTests.free)
            let second = try await auth.session(visit)
            #expect(!second.isNewUser && second.user.id == first.user.id)
            // The address is sealed, and only its keyed hash finds it.
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts, emails") == "1")
            let rows = try await auth.stage.rows(
                "SELECT row_to_json(e)::text || (SELECT string_agg(c::text, '') FROM challenges c) FROM emails e")
            #expect(!rows.contains("anna") && !rows.contains("616e6e61"))
            let opened = "SELECT count(*) FROM audit WHERE act = 'session_opened' AND details LIKE '%\"email_code\"%'"
            #expect(try await auth.stage.rows(opened) == "2")
        }
    }

    @Test func onlyTheLocalPartIsCaseSensitive() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(byEmail: Self.email)
            try await auth.age("2 minutes")
            let sent = try await auth.ask(SendEmailCode(email: " anna@EXAMPLE.com "))
            #expect(sent.maskedEmail == "a…@e…")
            let code = try await auth.spool.code(for: Self.email, after: 1)
            let again = try await auth.session(
                VerifyEmailCode(
                    challengeId: sent.challengeId, code: code, device: AuthStage.device, app: SignInRulesOfTests.free))
            #expect(again.user.id == first.user.id)
            try await auth.age("2 minutes")
            #expect(try await auth.signIn(byEmail: "Anna@example.com").user.id != first.user.id)
        }
    }

    @Test func theAnswerIsTheSameWithAnAccountAndWithout() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(byEmail: Self.email)
            try await auth.age("2 minutes")
            let known = try await auth.ask(SendEmailCode(email: Self.email))
            let unknown = try await auth.ask(SendEmailCode(email: "axel@example.com"))
            #expect(known.maskedEmail == unknown.maskedEmail)
            #expect(known.resendAfterSeconds == unknown.resendAfterSeconds)
            #expect(known.expiresInSeconds == unknown.expiresInSeconds)
            for email in [Self.email, "axel@example.com"] {
                let error = try await auth.refusal(of: SendEmailCode(email: email))
                #expect(error.code == "rate_limited" && error.details == ChallengePolicy.alternatives)
            }
        }
    }

    @Test func theLimitsAreThoseOfPhonesAndCountApart() async throws {
        try await AuthStage.run(environment: ["AUTH_OTP_PER_ADDRESS_HOUR": "7"]) { auth in
            for _ in 1...5 {
                _ = try await auth.ask(SendEmailCode(email: Self.email))
                try await auth.age("2 minutes")
            }
            #expect(try await auth.refusal(of: SendEmailCode(email: Self.email)).code == "rate_limited")
            // Another address and a phone have limits of their own; the client's address pays for all of them.
            _ = try await auth.ask(SendEmailCode(email: "axel@example.com"))
            _ = try await auth.ask(SendOTP(phone: Self.phone))
            #expect(try await auth.refusal(of: SendEmailCode(email: "beda@example.com")).code == "rate_limited")
            _ = try await auth.ask(SendEmailCode(email: "beda@example.com"), at: "192.0.2.8")
        }
    }

    /// Otherwise a mailbox would get a code for each of its countless spellings.
    @Test func aMailboxHasOneLimitUnderAllItsSpellings() async throws {
        try await AuthStage.run { auth in
            for spelling in ["anna", "Anna", "an.na", "anna+1", "\u{ff41}nna"] {
                let email = "\(spelling)@gmail.com"
                _ = try await auth.ask(SendEmailCode(email: email))
                #expect(try await auth.refusal(of: SendEmailCode(email: "ANNA@gmail.com")).code == "rate_limited")
                try await auth.age("2 minutes")
            }
            #expect(try await auth.refusal(of: SendEmailCode(email: "anna+2@gmail.com")).code == "rate_limited")
            _ = try await auth.ask(SendEmailCode(email: "axel@gmail.com"))
            // Other hosts may tell them apart.
            for spelling in ["anna", "an.na"] {
                _ = try await auth.ask(SendEmailCode(email: "\(spelling)@example.com"))
            }
        }
    }

    /// Wrong codes are guesses at one account, and an address of another spelling has another.
    @Test func wrongCodesLockOneSpellingOnly() async throws {
        try await AuthStage.run { auth in
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            for _ in 0..<3 {
                let guess = VerifyEmailCode(
                    challengeId: challenge, code: AuthStage.wrong(code), device: AuthStage.device)
                _ = try await auth.refusal(of: guess)
            }
            try await auth.age("2 minutes")
            #expect(try await auth.refusal(of: SendEmailCode(email: Self.email)).code == "otp_locked")
            _ = try await auth.ask(SendEmailCode(email: "anna+1@example.com"))
        }
    }

    @Test func theHourHasALimitWithoutThatOfSMS() async throws {
        let environment = ["AUTH_EMAIL_PER_HOUR": "5", "AUTH_SMS_PER_HOUR": "5", "AUTH_SMS_PER_HOUR_COUNTRY": "5"]
        try await AuthStage.run(environment: environment) { auth in
            for index in 1...4 { _ = try await auth.ask(SendEmailCode(email: "a\(index)@example.com")) }
            #expect(try await auth.refusal(of: SendEmailCode(email: "a5@example.com")).code == "rate_limited")
            for last in 1...4 { _ = try await auth.ask(SendOTP(phone: "+1415555267\(last)")) }
            #expect(try await auth.refusal(of: SendOTP(phone: "+14155552675")).code == "rate_limited")
            #expect(
                try await auth.stage.rows("SELECT scope, sum(used) FROM sms_budget GROUP BY scope ORDER BY scope")
                    == "|4\n@|4\nUS|4")
            // Where the hour ends while this runs, the next one is as full.
            try await auth.stage.rows(
                "INSERT INTO sms_budget SELECT scope, hour + interval '1 hour', shard, used FROM sms_budget")
            let container = auth.stage.containers[0]
            container.hurry()
            #expect(try await eventually { container.bus.report.gauges?["email_budget_used"] == 0.8 })
            #expect(try await eventually { auth.stage.log.text.contains(#""event":"email_budget""#) })
        }
    }

    @Test func wrongCodesLockTheAddressForStrangersAndNotForItsDevice() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(byEmail: Self.email)
            try await auth.age("2 minutes")
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            for outcome in ["otp_invalid", "otp_invalid", "otp_locked"] {
                let guess = VerifyEmailCode(
                    challengeId: challenge, code: AuthStage.wrong(code), device: AuthStage.device)
                #expect(try await auth.refusal(of: guess).code == outcome)
            }
            #expect(try await auth.refusal(of: SendEmailCode(email: Self.email)).code == "otp_locked")
            let secret = try #require(session.deviceSecret)
            _ = try await auth.email(
                SendEmailCode(email: Self.email, device: .init(id: session.deviceId, secret: secret)))
        }
    }

    @Test func aCodeWorksOnlyForItsOwnPurpose() async throws {
        try await AuthStage.run(environment: ["AUTH_DORMANT_AFTER": "8760h"]) { auth in
            let (email, code) = try await auth.email(SendEmailCode(email: Self.email))
            let (phone, digits) = try await auth.code(for: Self.phone)
            let refusals = [
                try await auth.refusal(of: VerifyOTP(challengeId: email, code: code, device: AuthStage.device)),
                try await auth.refusal(
                    of: VerifyEmailCode(
                        challengeId: phone, code: digits, device: AuthStage.device, app: SignInRulesOfTests.free)),
            ]
            #expect(refusals.allSatisfy { $0.code == "otp_expired" })
            let undo = UndoPhoneChange(challengeId: email, code: code, device: .init(id: .ordered(), secret: "s"))
            #expect(try await auth.refusal(of: undo).code == "otp_expired")
            _ = try await auth.ask(
                VerifyEmailCode(challengeId: email, code: code, device: AuthStage.device, app: SignInRulesOfTests.free))
            let again = VerifyEmailCode(
                challengeId: email, code: code, device: AuthStage.device, app: SignInRulesOfTests.free)
            #expect(try await auth.refusal(of: again).code == "otp_expired")
        }
    }

    @Test func concurrentVerificationsMakeOneAccountAndSession() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            let request = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, app: SignInRulesOfTests.free)
            let outcomes = try await atOnce(32) { () -> String in
                do {
                    return try await auth.session(request).tokenType
                } catch let error as BusError {
                    return error.code
                }
            }
            #expect(outcomes.count { $0 == "Bearer" } == 1)
            #expect(Set(outcomes).isSubset(of: ["Bearer", "otp_expired", "overloaded"]))
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts, sessions, emails") == "1")
        }
    }

    /// A code by email is weaker than one by SMS, so it does not move an account that has a number.
    @Test func aSessionByEmailIsFreshOnlyWithoutANumber() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(byEmail: Self.email)
            let change = SendOTP(phone: Self.phone, purpose: "change_phone")
            let sent = try await auth.ask(change, as: auth.actor(session))
            let code = try await auth.spool.code(for: Self.phone)
            _ = try await auth.ask(
                ChangePhone(challengeId: sent.challengeId, code: code), as: auth.actor(session))
            let next = SendOTP(phone: "+14155552672", purpose: "change_phone")
            #expect(try await auth.refusal(of: next, as: auth.actor(session)).code == "reauthentication_required")
        }
    }

    // MARK: What an app's plan says

    @Test func anAddressOpensNoAccountUntilThePhoneIsVerified() async throws {
        try await AuthStage.run { auth in
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            let verify = VerifyEmailCode(challengeId: challenge, code: code, device: AuthStage.device)
            guard case .phoneVerificationRequired(let wanted) = try await auth.ask(verify) else {
                Issue.record("An address alone opened an account.")
                return
            }
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts") == "0")
            let sms = try await auth.sms(SendOTP(phone: Self.phone, linkToken: wanted.linkToken))
            #expect(sms.text.contains("to link your email address a...@e..."))
            let session = try await auth.ask(
                VerifyOTP(challengeId: sms.challenge, code: sms.code, device: AuthStage.device))
            #expect(session.isNewUser)
            // From now on the address opens the account by itself, in every app.
            try await auth.age("2 minutes")
            let (next, digits) = try await auth.email(SendEmailCode(email: Self.email))
            let again = try await auth.session(
                VerifyEmailCode(challengeId: next, code: digits, device: AuthStage.device))
            #expect(again.user.id == session.user.id)
        }
    }

    @Test func anAccountAddsAPhoneWhenAnotherAppNeedsIt() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(byEmail: Self.email)
            try await auth.age("2 minutes")
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            let verify = VerifyEmailCode(challengeId: challenge, code: code, device: AuthStage.device)
            guard case .phoneVerificationRequired(let wanted) = try await auth.ask(verify) else {
                Issue.record("An account without a phone was opened.")
                return
            }
            let sms = try await auth.sms(SendOTP(phone: Self.phone, linkToken: wanted.linkToken))
            let added = try await auth.ask(
                VerifyOTP(challengeId: sms.challenge, code: sms.code, device: AuthStage.device))
            #expect(added.user.id == session.user.id && !added.isNewUser)
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts, phones, emails") == "1")
        }
    }

    @Test func aNumberOfAnotherAccountIsNotMoved() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.phone)
            _ = try await auth.signIn(byEmail: Self.email)
            try await auth.age("2 minutes")
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            let verify = VerifyEmailCode(challengeId: challenge, code: code, device: AuthStage.device)
            guard case .phoneVerificationRequired(let wanted) = try await auth.ask(verify) else {
                Issue.record("An account without a phone was opened.")
                return
            }
            let sms = try await auth.sms(SendOTP(phone: Self.phone, linkToken: wanted.linkToken))
            let take = VerifyOTP(
                challengeId: sms.challenge, code: sms.code, device: AuthStage.device, confirmLink: true)
            #expect(try await auth.refusal(of: take).code == "identity_in_use")
            #expect(
                try await auth.stage.rows(
                    "SELECT count(*) FROM accounts a, emails e, phones p WHERE e.person_id = p.person_id") == "0")
        }
    }

    @Test func aMethodThatThePlanLacksUsesUpNoCode() async throws {
        try await AuthStage.run { auth in
            let (challenge, code) = try await auth.email(SendEmailCode(email: Self.email))
            let closed = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, app: SignInRulesOfTests.closed)
            #expect(try await auth.refusal(of: closed).code == "method_not_available")
            let unknown = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, app: "pk_unknown")
            #expect(try await auth.refusal(of: unknown).code == "app_unknown")
            let asked = auth.rules.asked
            let open = VerifyEmailCode(
                challengeId: challenge, code: code, device: AuthStage.device, app: SignInRulesOfTests.free,
                entry: "spring")
            _ = try await auth.session(open)
            #expect(auth.onboarding.asked.map(\.entry) == ["spring"], "profile hears how the person came")
            // The next one is not asked about: the answer is remembered.
            #expect(try await auth.refusal(of: open).code == "otp_expired")
            #expect(auth.rules.asked == asked + 1)
        }
    }

    @Test func deletingTheAccountErasesTheAddressAndKeepsItsLimits() async throws {
        try await AuthStage.run { auth in
            for service in ServiceName.services where service != .auth && service != .profile {
                try auth.stage.answering(as: service, EventRecorder<AccountDeleted>())
            }
            let session = try await auth.signIn(byEmail: Self.email)
            _ = try await auth.ask(DeleteAccount(), as: auth.actor(session))
            #expect(try await auth.stage.rows("SELECT count(*) FROM emails") == "0")
            #expect(try await auth.stage.rows("SELECT count(*) FROM challenges WHERE phone_sealed <> ''") == "0")
            #expect(try await auth.refusal(of: SendEmailCode(email: Self.email)).code == "rate_limited")
        }
    }
}
