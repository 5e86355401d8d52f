import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("social sign-in") struct SocialSignInTests {
    private static let phone = "+14155552671"

    @Test func aNewIdentityMakesAnAccountByItsPhone() async throws {
        try await SocialStage.run { social in
            let token = try await social.linkToken("google", subject: "108")
            let (challenge, code, text) = try await social.linkCode(token, to: Self.phone)
            #expect(text.contains("to link Google a...@e...."))
            let session = try await social.auth.ask(
                VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device))
            #expect(session.isNewUser)
            // From now on by the identity alone, under any address.
            let free = SignInRulesOfTests.free
            let again = try #require(try await social.session("google", subject: "108", app: free))
            #expect(again.user.id == session.user.id && !again.isNewUser)
            let identities = try await social.auth.ask(ListIdentities(), as: social.actor(again)).identities
            #expect(identities.map(\.provider) == ["google"] && identities.first?.email == "a…@e…")
            let records = try await social.auth.ask(ExportAccount(after: nil), as: social.actor(session)).records
            let exported = try records.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["kind"] == "identity" }
            #expect(exported.count == 1 && exported.first?["email"] == "a…@e…")
            // The same subject with somebody else is somebody else.
            #expect(try await social.session("apple", subject: "108") == nil)
            let frozenOut = try await social.auth.refusal(
                of: UnlinkIdentity(provider: "google"), as: social.actor(again))
            #expect(frozenOut.code == "reauthentication_required", "an identity is no code")
            _ = try await social.auth.ask(DeleteAccount(), as: social.actor(session))
            #expect(try await social.session("google", subject: "108") == nil, "it opens nothing any more")
        }
    }

    @Test func anExistingAccountIsLinkedOnceItsOwnerConfirms() async throws {
        try await SocialStage.run { social in
            let owner = try await social.auth.signIn(Self.phone, push: "fcm:old")
            let token = try await social.linkToken("google", subject: "108")
            let (challenge, code, _) = try await social.linkCode(token, to: Self.phone)
            var verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            for confirm in [nil, false] {
                verify.confirmLink = confirm
                #expect(try await social.auth.refusal(of: verify).code == "link_confirmation_required")
            }
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "0")
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM sessions") == "1")
            verify.confirmLink = true
            let linked = try await social.auth.ask(verify)
            #expect(linked.user.id == owner.user.id, "the same code, which was not spent")
            #expect(try await social.auth.refusal(of: verify).code == "otp_expired", "and now is")
            try await social.waitUntilSent()
            let told = social.auth.spool.pushes().filter { $0["data"]?["kind"] == "identity_linked" }
            #expect(told.count == 1 && told.first?["deviceId"] == .string(owner.deviceId.description))
            #expect(told.first?["body"]?.stringValue?.hasPrefix("Google a…@e… opens your") == true)
        }
    }

    /// Unlinking locks the account. A sign-in that has already found the identity waits, and then finds it gone.
    @Test func anIdentityUnlinkedDuringASignInOpensNothing() async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("google", subject: "108", to: Self.phone)
            let container = social.auth.stage.containers[0]
            let signIn = try await container.database.transaction { transaction in
                AccountStore.lock(owner.user.id, in: transaction)
                _ = try await transaction.query("SELECT 1 AS one")
                let signIn = Loop.spawn {
                    try await patiently { try await social.signIn("google", subject: "108") }
                }
                #expect(try await social.auth.isWaited(for: transaction))
                transaction.send("DELETE FROM identities WHERE person_id = $1", [.uuid(owner.user.id)])
                return signIn
            }
            guard case .phoneVerificationRequired = try await signIn.value else {
                Issue.record("the identity opened an account that it was taken off")
                return
            }
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM sessions WHERE opened_by = 'google'") == "0")
        }
    }

    /// The same with a number that is moved to another account.
    @Test func aNumberRemovedDuringASignInOpensNoFormerAccount() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.phone)
            try await auth.age("20 minutes")
            let sent = try await auth.code(for: Self.phone)
            let container = auth.stage.containers[0]
            let signIn = try await container.database.transaction { transaction in
                AccountStore.lock(owner.user.id, in: transaction)
                _ = try await transaction.query("SELECT 1 AS one")
                let signIn = Loop.spawn {
                    let verify = VerifyOTP(
                        challengeId: sent.challenge, code: sent.code, device: AuthStage.device)
                    return try await patiently { try await auth.ask(verify) }
                }
                #expect(try await auth.isWaited(for: transaction))
                transaction.send("DELETE FROM phones WHERE person_id = $1", [.uuid(owner.user.id)])
                return signIn
            }
            let session = try await signIn.value
            #expect(session.isNewUser && session.user.id != owner.user.id)
        }
    }

    /// Both wait for the account, and neither for the other.
    @Test func concurrentSignInsByIdentityOpenTwoSessions() async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("google", subject: "108", to: Self.phone)
            let stage = social.auth.stage
            let signIns = try await stage.containers[0].database.transaction { transaction in
                AccountStore.lock(owner.user.id, in: transaction)
                _ = try await transaction.query("SELECT 1 AS one")
                let signIns = (0..<2).map { _ in
                    Loop.spawn { try await social.session("google", subject: "108")?.user.id }
                }
                let waiting = """
                    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """
                #expect(try await eventually { try await stage.rows(waiting) == "2" })
                return signIns
            }
            for signIn in signIns { #expect(try await signIn.value == owner.user.id) }
        }
    }

    @Test func aLinkIsOneIdentityToOneAccount() async throws {
        try await SocialStage.run { social in
            // Two phones with the same identity in hand, neither linked yet.
            let tokens = [
                try await social.linkToken("google", subject: "108"),
                try await social.linkToken("google", subject: "108"),
            ]
            let first = try await social.linkCode(tokens[0], to: Self.phone)
            let second = try await social.linkCode(tokens[1], to: "+14155552672")
            _ = try await social.auth.ask(
                VerifyOTP(challengeId: first.challenge, code: first.code, device: AuthStage.device))
            let late = VerifyOTP(challengeId: second.challenge, code: second.code, device: AuthStage.device)
            #expect(try await social.auth.refusal(of: late).code == "identity_in_use")
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM accounts") == "1")
            // The account accepts no second identity of the same provider.
            let third = try await social.linkCode(
                try await social.linkToken("google", subject: "109"), to: Self.phone)
            let other = VerifyOTP(
                challengeId: third.challenge, code: third.code, device: AuthStage.device, confirmLink: true)
            #expect(try await social.auth.refusal(of: other).code == "provider_already_linked")
            // It accepts one of the other provider.
            _ = try await social.link("apple", subject: "108", to: Self.phone)
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "2")
            let spent = SendOTP(phone: Self.phone, linkToken: tokens[0])
            try await social.auth.age("20 minutes")
            #expect(try await social.auth.refusal(of: spent).code == "link_token_expired")
        }
    }

    @Test func aFrozenAccountIsNotLinked() async throws {
        try await SocialStage.run { social in
            _ = try await social.auth.signIn(Self.phone)
            let (challenge, code) = try await social.auth.code(for: "+46701234567", purpose: "recovery")
            let begin = BeginRecovery(
                caseID: .ordered(), accountPhone: Self.phone, challengeID: challenge, code: code,
                device: AuthStage.device, freezeSeconds: 60)
            _ = try await social.auth.stage.asking(as: .recovery).call(begin, social.auth.options())
            let token = try await social.linkToken("google", subject: "108")
            let link = try await social.linkCode(token, to: Self.phone)
            let verify = VerifyOTP(
                challengeId: link.challenge, code: link.code, device: AuthStage.device, confirmLink: true)
            let refused = try await social.auth.refusal(of: verify)
            #expect(refused.code == "account_frozen" && refused.retryAfterMs != nil)
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM identities") == "0")
        }
    }

    // MARK: Bad tokens

    @Test func aBadTokenLeavesNoRow() async throws {
        try await SocialStage.run { social in
            let (auth, forge) = (social.auth, social.forge)
            let nonce = try await social.nonce("google")
            let corpus = BadToken.all(forge, nonce: nonce)
            #expect(corpus.count >= 80)
            let before = try await rows(auth)
            for bad in corpus {
                let request = SignInWithGoogle(identityToken: bad.token, nonce: nonce, device: AuthStage.device)
                let refused = try await auth.refusal(of: request)
                #expect(refused.code == "identity_token_invalid" && refused.executed == .no, "\(bad.label)")
            }
            #expect(try await rows(auth) == before)
            // The nonce is still valid once, for a valid token. A stranger's nonce is not.
            let token = forge.token("google", subject: "108", nonce: nonce)
            let foreign = SignInWithApple(
                identityToken: forge.token("apple", subject: "108", nonce: nonce), nonce: nonce,
                device: AuthStage.device)
            #expect(try await auth.refusal(of: foreign).code == "identity_token_invalid", "issued for Google")
            let invented = SignInWithGoogle(
                identityToken: forge.token("google", subject: "108", nonce: "nc_invented"), nonce: "nc_invented",
                device: AuthStage.device)
            #expect(try await auth.refusal(of: invented).code == "identity_token_invalid")
            let good = SignInWithGoogle(identityToken: token, nonce: nonce, device: AuthStage.device)
            _ = try await auth.ask(good)
            let after = try await rows(auth)
            #expect(try await auth.refusal(of: good).code == "identity_token_invalid", "the nonce is spent")
            let late = try await social.nonce("google")
            try await auth.stage.rows("UPDATE social_nonces SET expires_at = now()")
            let expired = SignInWithGoogle(
                identityToken: forge.token("google", subject: "108", nonce: late), nonce: late,
                device: AuthStage.device)
            #expect(try await auth.refusal(of: expired).code == "identity_token_invalid")
            try await auth.stage.rows("DELETE FROM social_nonces")
            #expect(try await rows(auth) == after)
            #expect(!auth.stage.log.text.contains("nc_") && !auth.stage.log.text.contains("anna"))
        }
    }

    /// How many rows every table has.
    @Loop private func rows(_ auth: AuthStage) async throws -> String {
        try await auth.stage.rows(
            """
            SELECT string_agg(tablename || (xpath('//c/text()', query_to_xml(
                format('SELECT count(*) AS c FROM %I.%I', schemaname, tablename), true, true, '')))[1]::text, ' '
                ORDER BY tablename)
            FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('key_marks', 'clock_marks')
                AND tablename NOT LIKE 'audit_anchor%'
            """)
    }

    @Test func aNonceUsedConcurrentlyCountsOnce() async throws {
        try await SocialStage.run(replicas: 2) { social in
            _ = try await social.link("google", subject: "108", to: Self.phone)
            for _ in 0..<5 {
                let nonce = try await social.nonce("google")
                let request = SignInWithGoogle(
                    identityToken: social.forge.token("google", subject: "108", nonce: nonce), nonce: nonce,
                    device: AuthStage.device)
                let outcomes = try await atOnce(8) { () -> String in
                    do {
                        _ = try await social.auth.ask(request)
                        return "session"
                    } catch let error as BusError {
                        return error.code
                    }
                }
                #expect(outcomes.count { $0 == "session" } == 1, "\(outcomes)")
                #expect(Set(outcomes).isSubset(of: ["session", "identity_token_invalid", "overloaded"]))
            }
        }
    }

    @Test func unavailableKeysAreReportedAsAnOutageOfTheProvider() async throws {
        try await SocialStage.run { social in
            let nonce = try await social.nonce("google")
            let request = SignInWithGoogle(
                identityToken: social.forge.token("google", subject: "108", nonce: nonce), nonce: nonce,
                device: AuthStage.device)
            // Another replica issued the nonce; this one has no keys yet.
            social.keys.manner = .answers(status: 500, body: "")
            try await social.auth.stage.replaceReplicas(without: [])
            let refused = try await social.auth.refusal(of: request)
            #expect(refused.code == "identity_provider_unavailable" && refused.retryAfterMs != nil)
            #expect(try await social.auth.stage.rows("SELECT count(*) FROM social_nonces") == "1", "it is not spent")
        }
    }

    @Test func noNonceIsIssuedWithoutKeysOfTheProvider() async throws {
        try await SocialStage.run { social in
            social.keys.manner = .answers(status: 500, body: "")
            let refused = try await social.auth.refusal(of: IssueSocialNonce(provider: "google"))
            #expect(refused.code == "identity_provider_unavailable" && refused.retryAfterMs != nil)
        }
    }

    @Test func anUnconfiguredProviderIsUnlistedAndRefused() async throws {
        try await SocialStage.run { social in
            let all = try await social.auth.ask(GetAuthMethods()).methods
            #expect(all.map(\.key) == ["phone", "email", "apple", "google"])
            let closed = GetAuthMethods(app: SignInRulesOfTests.closed)
            #expect(try await social.auth.ask(closed).methods.isEmpty, "the app's plan has no way of these")
            #expect(all[0].codeLength == 6 && all[0].countries?.contains("SE") == true)
            let names: Set = ["AUTH_APPLE_AUDIENCES"]
            try await social.auth.stage.replaceReplicas(without: names)
            #expect(try await social.auth.ask(GetAuthMethods()).methods.map(\.key) == ["phone", "email", "google"])
            let device = AuthStage.device
            for refused in [
                try await social.auth.refusal(of: IssueSocialNonce(provider: "apple")),
                try await social.auth.refusal(of: SignInWithApple(identityToken: "e", nonce: "n", device: device)),
            ] {
                #expect(refused.code == "method_not_available" && refused.retryAfterMs == nil)
            }
        }
    }

    @Test func theCountriesAreThoseThatGetCodes() async throws {
        let environment = [
            "AUTH_SMS_COUNTRIES": "SE,DE", "AUTH_OTP_TTL": "120s", "AUTH_OTP_RESEND_AFTER": "30s",
            "EMAIL_PROVIDER": "off",
        ]
        try await AuthStage.run(environment: environment) { auth in
            let methods = try await auth.ask(GetAuthMethods()).methods
            #expect(
                methods == [
                    AuthMethod(
                        key: "phone", proof: "code", codeLength: 6, expiresInSeconds: 120, resendAfterSeconds: 30,
                        countries: ["DE", "SE"])
                ])
        }
    }

    // MARK: Unlinking

    @Test func unlinkingEndsTheSessionsOpenedByTheIdentity() async throws {
        try await SocialStage.run { social in
            _ = try await social.link("google", subject: "108", to: Self.phone)
            let other = try await social.auth.signIn(Self.phone, push: "fcm:other")
            let owner = try await social.auth.signIn(Self.phone, push: "fcm:owner")
            let opened = try #require(try await social.session("google", subject: "108"))
            for _ in 0..<2 {
                _ = try await social.auth.ask(UnlinkIdentity(provider: "google"), as: social.actor(owner))
            }
            #expect(try await social.auth.ask(ListIdentities(), as: social.actor(owner)).identities.isEmpty)
            #expect(try await !social.auth.ask(CheckSession(sessionID: opened.sessionId)).isActive)
            #expect(try await social.auth.ask(CheckSession(sessionID: other.sessionId)).isActive)
            #expect(try await social.session("google", subject: "108") == nil, "it opens nothing any more")
            try await social.waitUntilSent()
            let told = social.auth.spool.pushes().filter { $0["data"]?["kind"] == "identity_unlinked" }
            #expect(
                Set(told.compactMap { $0["deviceId"]?.stringValue })
                    == [other.deviceId.description, owner.deviceId.description],
                "a stolen access token is of the owner's own device")
        }
    }

    /// An account without a number can get no code by SMS, so an identity makes the sign-in fresh.
    @Test func withoutANumberASignInByAnIdentityIsFresh() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            _ = try await social.link("google", subject: "108", to: Self.phone)
            let opened = try #require(try await social.session("google", subject: "108"))
            let export = ExportAccount(after: nil)
            let stale = try await auth.refusal(of: export, as: social.actor(opened))
            #expect(stale.code == "reauthentication_required", "the account has a number that gets a code")
            try await auth.stage.rows("DELETE FROM phones")
            _ = try await auth.ask(export, as: social.actor(opened))
            try await auth.stage.rows("UPDATE sessions SET created_at = created_at - interval '5 minutes'")
            #expect(try await auth.refusal(of: export, as: social.actor(opened)).code == "reauthentication_required")
            let free = SignInRulesOfTests.free
            let again = try #require(try await social.session("google", subject: "108", app: free))
            let (challenge, code) = try await social.changeCode(to: "+46701234567", by: again)
            let change = ChangePhone(challengeId: challenge, code: code)
            #expect(try await auth.ask(change, as: social.actor(again)).maskedPhone == "+46 (***) ***-4567")
            try await auth.age("20 minutes")
            #expect(try await auth.signIn("+46701234567").user.id == opened.user.id)
            try await auth.stage.rows("DELETE FROM phones")
            let last = try #require(try await social.session("google", subject: "108", app: free))
            #expect(try await auth.ask(DeleteAccount(), as: social.actor(last)).status == "deleting")
        }
    }

    @Test func theLastSignInMethodCannotBeRemoved() async throws {
        try await SocialStage.run { social in
            let owner = try await social.link("google", subject: "108", to: Self.phone)
            _ = try await social.link("apple", subject: "108", to: Self.phone)
            try await social.auth.stage.rows("DELETE FROM phones")
            _ = try await social.auth.ask(UnlinkIdentity(provider: "google"), as: social.actor(owner))
            let refused = try await social.auth.refusal(
                of: UnlinkIdentity(provider: "apple"), as: social.actor(owner))
            #expect(refused.code == "last_way_in")
            let session = try await social.session("apple", subject: "108", app: SignInRulesOfTests.free)
            #expect(session?.user.id == owner.user.id)
        }
    }
}
