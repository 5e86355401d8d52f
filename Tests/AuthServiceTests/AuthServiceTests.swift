import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import TestSupport
import Testing

@testable import AuthService

@Suite("the auth service") struct AuthServiceTests {
    private static let phone = "+14155552671"

    @Test func aCodeTriedManyTimesAtOnceOpensOneSession() async throws {
        let rounds = Rounds.count(8, prove: 200)
        try await AuthStage.run(replicas: 2, environment: ["AUTH_OTP_PER_ADDRESS_HOUR": "1000"]) { auth in
            for round in 1...rounds {
                let (challenge, code) = try await auth.code(for: "+14155552\(round + 100)")
                let request = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
                let outcomes = try await atOnce(64) { () -> String in
                    do {
                        return try await auth.ask(request).tokenType
                    } catch let error as BusError {
                        return error.code
                    }
                }
                #expect(outcomes.count { $0 == "Bearer" } == 1)
                // A request that waits too long for the row gets `overloaded`. There are no other answers.
                #expect(Set(outcomes).isSubset(of: ["Bearer", "otp_expired", "overloaded"]))
            }
            let rows = try await auth.stage.rows(
                """
                SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM accounts), (SELECT count(*) FROM devices)
                """)
            #expect(rows == "\(rounds)|\(rounds)|\(rounds)")
        }
    }

    @Test func theThirdWrongCodeLocks() async throws {
        try await AuthStage.run { auth in
            let (challenge, code) = try await auth.code(for: Self.phone)
            func attempt(_ code: String) -> VerifyOTP {
                VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            }
            let wrong = AuthStage.wrong(code)
            for left in [2, 1] as [Int64] {
                let error = try await auth.refusal(of: attempt(wrong))
                #expect(error.code == "otp_invalid" && error.executed == .yes)
                #expect(error.details?["attemptsRemaining"] == .integer(left))
            }
            let locked = try await auth.refusal(of: attempt(wrong))
            #expect(locked.code == "otp_locked" && locked.retryAfterMs == 900_000)
            #expect(try await auth.refusal(of: attempt(code)).code == "otp_locked", "the right one comes too late")
            #expect(try await auth.refusal(of: SendOTP(phone: Self.phone)).code == "otp_locked")
            #expect(try await auth.stage.rows("SELECT count(*) FROM sessions") == "0")
        }
    }

    @Test func aWrongCodeAndAnUnknownChallengeAreNotTheSame() async throws {
        try await AuthStage.run { auth in
            let unknown = VerifyOTP(challengeId: .ordered(), code: "000000", device: AuthStage.device)
            #expect(try await auth.refusal(of: unknown).code == "otp_expired")
            // A challenge counts for its own purpose only.
            let (challenge, code) = try await auth.code(for: Self.phone, purpose: "recovery")
            let login = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            let refused = try await auth.refusal(of: login)
            #expect(refused.code == "otp_expired")
            #expect(refused.detail == "This code was sent to recover an account. Request a new one to sign in.")
            #expect(refused.errors?.map { "\($0.field) \($0.code)" } == ["challengeId wrong_purpose"])
        }
    }

    @Test func aUsedOrReplacedCodeIsRefusedWithThatReason() async throws {
        try await AuthStage.run { auth in
            let (first, code) = try await auth.code(for: Self.phone)
            let (second, newer) = try await auth.code(again: Self.phone)
            func refusal(_ challenge: Identifier, _ code: String) async throws -> BusError {
                try await auth.refusal(of: VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device))
            }
            let superseded = try await refusal(first, code)
            #expect(superseded.errors?.map(\.code) == ["superseded"])
            _ = try await auth.ask(VerifyOTP(challengeId: second, code: newer, device: AuthStage.device))
            let used = try await refusal(second, newer)
            #expect(used.errors?.map(\.code) == ["used"])
            #expect(used.errors?.first?.message.contains("Idempotency-Key") == true)
            for error in [superseded, used] {
                #expect(error.code == "otp_expired" && error.detail == "Code expired. Request a new one.")
            }
        }
    }

    @Test func aSecondCodeWithinAMinuteIsRefused() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.code(for: Self.phone)
            let error = try await auth.refusal(of: SendOTP(phone: "+1 (415) 555-2671"))
            #expect(error.code == "rate_limited" && error.executed == .no)
            #expect((1...60_000).contains(error.retryAfterMs ?? 0))
            #expect(try await auth.stage.rows("SELECT count(*) FROM challenges") == "1")
            #expect(auth.spool.messages().count == 1)
        }
    }

    @Test(
        "an SMS states the lifetime of its code",
        arguments: [
            ("300s", "for 5 minutes."), ("15m", "for 15 minutes."), ("119s", "for a minute."),
            ("45s", "for 45 seconds."),
        ])
    func lifetime(variable: String, sentence: String) async throws {
        try await AuthStage.run(environment: ["AUTH_OTP_TTL": variable]) { auth in
            _ = try await auth.code(for: Self.phone)
            #expect(auth.spool.messages().first?["body"]?.stringValue?.contains(sentence) == true)
        }
    }

    @Test func anAbandonedSMSDelaysNoNextCodeAndLeavesNoOutboxRow() async throws {
        try await AuthStage.run { auth in
            auth.spool.remove()
            _ = try await auth.ask(SendOTP(phone: Self.phone))
            // The last attempt comes at once instead of after minutes.
            try await auth.stage.rows("UPDATE outbox SET attempts = 9, due_at = now(), locked_until = NULL")
            while try await auth.stage.rows("SELECT state FROM challenges") != "undelivered" {
                try await auth.stage.rows("UPDATE outbox SET due_at = now() WHERE locked_until IS NULL")
                try await Loop.sleep(for: .milliseconds(5))
            }
            #expect(try await eventually { auth.stage.log.text.contains("sms_given_up") })
            while try await auth.stage.rows("SELECT count(*) FROM outbox") != "0" {
                try await Loop.sleep(for: .milliseconds(5))
            }
            // Not "wait a minute": nothing came.
            _ = try await auth.ask(SendOTP(phone: Self.phone))
        }
    }

    @Test func aRepeatedBeginRecoveryCountsItsWrongCodeOnce() async throws {
        try await AuthStage.run { auth in
            let (challenge, code) = try await auth.code(for: Self.phone, purpose: "recovery")
            let claim = BeginRecovery(
                caseID: .ordered(), accountPhone: Self.phone, challengeID: challenge, code: AuthStage.wrong(code),
                device: AuthStage.device, freezeSeconds: 60)
            let recovery = try auth.stage.asking(as: .recovery)
            for _ in 0..<3 {
                let error = await #expect(throws: BusError.self) {
                    try await recovery.call(claim, auth.options(key: "recovery-case-\(claim.caseID)"))
                }
                #expect(error?.code == "otp_invalid" && error?.details?["attemptsRemaining"] == 2)
            }
            #expect(try await auth.stage.rows("SELECT wrong_tries FROM challenges") == "1")
        }
    }

    @Test func anOldRefreshTokenEndsTheSession() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone)
            let second = try await auth.ask(RefreshToken(refreshToken: first.refreshToken))
            // Within ten seconds the lost answer is given again.
            #expect(try await auth.ask(RefreshToken(refreshToken: first.refreshToken)) == second)
            let third = try await auth.ask(RefreshToken(refreshToken: second.refreshToken))
            let reused = try await auth.refusal(of: RefreshToken(refreshToken: first.refreshToken))
            #expect(reused.code == "refresh_token_reused" && reused.executed == .yes)
            let ended = try await auth.refusal(of: RefreshToken(refreshToken: third.refreshToken))
            #expect(ended.code == "refresh_token_invalid")
            #expect(try await !auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
            let revoked = try await auth.ask(FollowRevocations(waitMs: 0))
            #expect(revoked.revocations.map(\.sessionID) == [first.sessionId])
        }
    }

    @Loop private final class Flag {
        var value = false
    }

    /// Sends a refresh that waits for the row of the session. Meanwhile another refresh renews the session, and the
    /// client uses the new token.
    ///
    /// - Returns: the code of its refusal.
    @Loop private static func overtake(_ refresh: RefreshToken, _ auth: AuthStage) async throws -> String? {
        let isAnswered = Flag()
        let overtaken = try await auth.stage.containers[0].database.transaction { transaction in
            _ = try await transaction.query("SELECT id FROM sessions FOR UPDATE", [])
            let overtaken = Loop.spawn { @Loop () -> String? in
                defer { isAnswered.value = true }
                do {
                    _ = try await auth.gateway.call(refresh, auth.options())
                    return nil
                } catch let error as BusError {
                    return error.code
                }
            }
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            // It may have stopped waiting before anybody looks.
            #expect(
                try await eventually {
                    let isWaiting = try await auth.stage.rows(waiting) == "1"
                    return isWaiting || isAnswered.value
                })
            transaction.send("UPDATE refresh_tokens SET replaced_at = clock_timestamp()", [])
            transaction.send("UPDATE sessions SET generation = 2, used_generation = 2", [])
            return overtaken
        }
        return try await overtaken.value
    }

    /// A client's request is held up in auth. It sends the token again, gets a new pair and uses it. Then auth goes on.
    @Test func anOvertakenRefreshEndsNoSession() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone)
            let proven = RefreshToken(refreshToken: first.refreshToken, deviceSecret: first.deviceSecret)
            var code: String? = "overloaded"
            // On a busy machine the wait for the lock may end before the session has changed.
            while code == "overloaded" {
                try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = NULL")
                try await auth.stage.rows("UPDATE sessions SET generation = 1, used_generation = 0")
                code = try await Self.overtake(proven, auth)
            }
            #expect(code == "request_in_progress")
            #expect(try await auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
            // A sender of the token now has a copy of it. A busy auth may still take the request for an older one.
            #expect(try await eventually { try await auth.refusal(of: proven).code == "refresh_token_reused" })
        }
    }

    @Test func aRepeatedRefreshIsARetryUnderAnyKey() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone)
            let refresh = RefreshToken(refreshToken: first.refreshToken)
            let second = try await auth.ask(refresh, key: "the-key-of-a-refresh")
            for key in ["the-key-of-a-refresh", "another-key-of-a-refresh", nil] {
                #expect(try await auth.ask(refresh, key: key) == second, "\(key ?? "none")")
            }
            _ = try await auth.ask(RefreshToken(refreshToken: second.refreshToken))
        }
    }

    /// Its answer is kept for a minute, and the token stays good for longer.
    @Test func aRetryWithItsKeySucceedsAfterItsReplyExpired() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone)
            let proven = RefreshToken(refreshToken: first.refreshToken, deviceSecret: first.deviceSecret)
            _ = try await auth.ask(proven, key: "the-key-of-a-refresh")
            try await auth.stage.rows("UPDATE inbox SET reply_until = now() - interval '1 minute'")
            try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = replaced_at - interval '2 minutes'")
            let again = try await auth.ask(proven, key: "the-key-of-a-refresh")
            #expect(again.sessionId == first.sessionId)
            _ = try await auth.ask(RefreshToken(refreshToken: again.refreshToken))
        }
    }

    @Test func aDeviceThatLostRepliesRenewsWithItsSecret() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone)
            let proven = RefreshToken(refreshToken: first.refreshToken, deviceSecret: first.deviceSecret)
            _ = try await auth.ask(RefreshToken(refreshToken: first.refreshToken))
            for _ in 0..<2 {
                try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = replaced_at - interval '1 hour'")
                _ = try await auth.ask(proven)
            }
            try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = replaced_at - interval '1 hour'")
            let last = try await auth.ask(proven)
            // Using a token of the new pair shows that the answer arrived. So whoever sends the old token has a copy.
            _ = try await auth.ask(RefreshToken(refreshToken: last.refreshToken))
            #expect(try await auth.refusal(of: proven).code == "refresh_token_reused")
        }
    }

    /// Chromium writes its cookies down within half a minute. Killed before that, it comes back with the former token.
    @Test(arguments: ["web", "android"]) func aBrowserMayLoseATokenItAlreadyUsedWithinAMinute(
        platform: String
    ) async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone, on: DeviceClaim(name: "Mine", platform: platform))
            let proven = RefreshToken(refreshToken: first.refreshToken, deviceSecret: first.deviceSecret)
            func use(_ session: Session) async throws {
                let access = try await auth.stage.rows("SELECT access_id FROM sessions")
                _ = try await auth.ask(
                    NoteTokenUse(sessionID: session.sessionId, tokenID: try #require(Identifier(access))))
            }
            try await use(try await auth.ask(proven))
            try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = replaced_at - interval '1 hour'")
            guard platform == "web" else {
                return #expect(try await auth.refusal(of: proven).code == "refresh_token_reused")
            }
            let again = try await auth.ask(proven)
            // A minute later, the token that came with it is saved. The former one is a copy in somebody's hands.
            try await auth.stage.rows("UPDATE sessions SET last_used_at = last_used_at - interval '46 seconds'")
            try await use(again)
            #expect(try await auth.refusal(of: proven).code == "refresh_token_reused")
        }
    }

    @Test func anotherDevicesSecretProvesNothing() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone)
            _ = try await auth.ask(RefreshToken(refreshToken: first.refreshToken))
            try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = replaced_at - interval '1 hour'")
            let other = try await auth.signIn("+14155552672")
            let stolen = RefreshToken(refreshToken: first.refreshToken, deviceSecret: other.deviceSecret)
            #expect(try await auth.refusal(of: stolen).code == "refresh_token_reused")
        }
    }

    @Test func aRefreshTokenPresentedManyTimesAtOnceGivesOnePair() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let first = try await auth.signIn(Self.phone)
            let outcomes = try await atOnce(50) { () -> String in
                do {
                    return try await auth.ask(RefreshToken(refreshToken: first.refreshToken)).refreshToken
                } catch let error as BusError {
                    return error.code
                }
            }
            // A request that waits too long for the row gets `overloaded`. A lost answer never looks like a theft.
            #expect(Set(outcomes).subtracting(["overloaded"]).count == 1)
            #expect(!outcomes.contains("refresh_token_reused"))
            // One token is left that was not replaced. It is of the second generation and can be used.
            let leaves = "SELECT count(*), max(generation) FROM refresh_tokens WHERE replaced_at IS NULL"
            #expect(try await auth.stage.rows(leaves) == "1|2")
            let leaf = try #require(outcomes.first { $0 != "overloaded" })
            _ = try await auth.ask(RefreshToken(refreshToken: leaf))
            #expect(try await auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
        }
    }

    @Test func aRepeatedKeyHasOneEffect() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let send = SendOTP(phone: Self.phone)
            let sent = try await auth.ask(send, key: "a-key-of-a-client")
            #expect(try await auth.ask(send, key: "a-key-of-a-client") == sent)
            #expect(try await auth.stage.rows("SELECT count(*) FROM challenges") == "1")
            let reused = await #expect(throws: BusError.self) {
                try await auth.ask(SendOTP(phone: "+14155552672"), key: "a-key-of-a-client")
            }
            #expect(reused?.code == "idempotency_key_reused")
        }
    }

    @Test func aSignInRepeatedWithItsKeyOpensNoOtherSession() async throws {
        try await AuthStage.run { auth in
            let (challenge, code) = try await auth.code(for: Self.phone)
            let verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            let first = try await auth.ask(verify, key: "the-key-of-a-sign-in")
            #expect(try await auth.ask(verify, key: "the-key-of-a-sign-in") == first)
            #expect(try await auth.stage.rows("SELECT count(*) FROM sessions") == "1")
            // A wrong code that was counted is not counted again either.
            let (other, right) = try await auth.code(for: "+14155552672")
            let wrong = VerifyOTP(challengeId: other, code: AuthStage.wrong(right), device: AuthStage.device)
            for _ in 0..<3 {
                let error = await #expect(throws: BusError.self) {
                    try await auth.ask(wrong, key: "the-key-of-a-mistake")
                }
                #expect(error?.details?["attemptsRemaining"] == 2)
            }
        }
    }

    @Test func concurrentSignInsWithOneKeyOpenOneSession() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let (challenge, code) = try await auth.code(for: Self.phone)
            let verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            let outcomes = try await atOnce(16) { () -> String in
                do {
                    return try await auth.ask(verify, key: "the-key-of-a-sign-in").sessionId.description
                } catch let error as BusError {
                    return error.code
                }
            }
            let session = try await auth.stage.rows("SELECT id FROM sessions")
            #expect(outcomes.contains(session))
            #expect(Set(outcomes).isSubset(of: [session, "request_in_progress", "overloaded"]))
        }
    }

    @Test func theRevocationLogIsReadPageByPage() async throws {
        try await AuthStage.run { auth in
            let count = RevocationsFollowed.largestPage + 1
            try await auth.stage.rows(
                """
                INSERT INTO revocations (session_id, created_at, forget_at)
                SELECT gen_random_uuid(), now() - interval '1 minute', now() + interval '1 h' FROM generate_series(1, \(count))
                """)
            let first = try await auth.ask(FollowRevocations(waitMs: 0))
            let rest = try await auth.ask(FollowRevocations(after: first.cursor, waitMs: 1000))
            #expect(first.revocations.count == RevocationsFollowed.largestPage && rest.revocations.count == 1)
            let end = try await auth.ask(FollowRevocations(after: rest.cursor, waitMs: 0))
            #expect(end.revocations.isEmpty && end.cursor == rest.cursor)
            #expect(Set((first.revocations + rest.revocations).map(\.sessionID)).count == count)
        }
    }

    /// A gateway that has read the whole log must notice, even if more than a page of sessions ended within the
    /// overlap.
    @Test func theOverlapAloneDoesNotCountAsAFullPage() async throws {
        try await AuthStage.run { auth in
            try await auth.stage.rows(
                """
                INSERT INTO revocations (session_id, forget_at)
                SELECT gen_random_uuid(), now() + interval '1 h' FROM generate_series(1, \(2 * RevocationsFollowed.largestPage))
                """)
            var (cursor, seen, isEnd) = (Int64(0), Set<Identifier>(), false)
            for _ in 0..<4 where !isEnd {
                let page = try await auth.ask(FollowRevocations(after: cursor, waitMs: 0))
                (cursor, isEnd) = (page.cursor, !page.isFullPage)
                seen.formUnion(page.revocations.map(\.sessionID))
            }
            #expect(isEnd && seen.count == 2 * RevocationsFollowed.largestPage)
            let one = try await auth.signIn(Self.phone)
            _ = try await auth.ask(Logout(), as: Actor(userID: one.user.id, sessionID: one.sessionId, role: .user))
            let news = try await auth.ask(FollowRevocations(after: cursor, waitMs: 1000))
            #expect(!news.isFullPage && news.revocations.contains { $0.sessionID == one.sessionId })
        }
    }

    /// Housekeeping has found the row, and waits for the transaction that renews it.
    @Test(
        arguments: [
            (
                "challenge_locks", "INSERT INTO challenge_locks VALUES ('a', 'b', now() - interval '1 s')",
                "UPDATE challenge_locks SET until = now() + interval '1 hour'"
            ),
            (
                "phone_aliases",
                """
                INSERT INTO phone_aliases (person_id, hash, key_id, sealed, until)
                SELECT id, 'a', 'k', '', now() - interval '1 s' FROM accounts
                """, "UPDATE phone_aliases SET until = now() + interval '1 hour'"
            ),
            (
                "refresh_tokens WHERE answer_sealed IS NOT NULL",
                "UPDATE refresh_tokens SET answer_sealed = 'a', replaced_at = now() - interval '61 s'",
                "UPDATE refresh_tokens SET answer_sealed = 'b', replaced_at = now()"
            ),
        ] as [(String, String, Statement)])
    func housekeepingKeepsARowRenewedDuringItsPass(rows: String, old: String, renewal: Statement) async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.phone)
            let container = auth.stage.containers[0]
            try await auth.stage.rows(old)
            let pass = try await container.database.transaction { transaction in
                _ = try await transaction.query(renewal)
                let pass = Loop.spawn {
                    try await patiently { try await Housekeeping.run(container.database, audit: container.audit) }
                }
                #expect(try await auth.isWaited(for: transaction))
                return pass
            }
            try await pass.value
            #expect(try await auth.stage.rows("SELECT count(*) FROM \(rows)") == "1")
        }
    }

    @Test func housekeepingRemovesOnlyExpiredRows() async throws {
        try await AuthStage.run { auth in
            let (ended, lasting) = (try await auth.signIn(Self.phone), try await auth.signIn("+14155552672"))
            let renewed = try await auth.ask(RefreshToken(refreshToken: lasting.refreshToken))
            let actor = Actor(userID: ended.user.id, sessionID: ended.sessionId, role: .user)
            _ = try await auth.ask(Logout(), as: actor)
            try await auth.stage.rows(
                """
                INSERT INTO challenge_locks VALUES ('a', 'over', now() - interval '1 s'), ('a', 'on', now() + interval '1 h');
                UPDATE challenges SET created_at = now() - interval '26 hours' WHERE phone_hash = (
                    SELECT hash FROM phones WHERE person_id = '\(ended.user.id)');
                UPDATE sessions SET revoked_at = now() - interval '25 hours' WHERE revoked_at IS NOT NULL;
                UPDATE revocations SET forget_at = now() - interval '1 s';
                UPDATE refresh_tokens SET replaced_at = now() - interval '61 s' WHERE replaced_at IS NOT NULL
                """)
            try await Housekeeping.run(auth.stage.containers[0].database, audit: auth.stage.containers[0].audit)
            let left = """
                SELECT (SELECT count(*) FROM challenges), (SELECT string_agg(asker, ' ') FROM challenge_locks),
                    (SELECT count(*) FROM revocations), (SELECT string_agg(id::text, ' ') FROM sessions),
                    (SELECT count(*) FROM refresh_tokens), (SELECT count(answer_sealed) FROM refresh_tokens)
                """
            #expect(try await auth.stage.rows(left) == "1|on|0|\(lasting.sessionId)|2|0")
            // The one that was replaced is still known for what it is.
            let reused = try await auth.refusal(of: RefreshToken(refreshToken: lasting.refreshToken))
            #expect(reused.code == "refresh_token_reused")
            #expect(
                try await auth.refusal(of: RefreshToken(refreshToken: renewed.refreshToken)).code
                    == "refresh_token_invalid")
        }
    }

    @Test func aNewFirstKeySealsAndLosesNoAccount() async throws {
        try await AuthStage.run { auth in
            let before = try await auth.signIn(Self.phone)
            var environment = auth.stage.environment
            environment["AUTH_KEYS"] = KeyRing.generate(id: "next") + (environment["AUTH_KEYS"] ?? "")
            try await auth.stage.replaceReplicas(by: environment)
            let refreshed = try await auth.ask(RefreshToken(refreshToken: before.refreshToken))
            #expect(refreshed.user.id == before.user.id)
            try await auth.age("20 minutes")
            #expect(try await auth.signIn(Self.phone).user.id == before.user.id)
            let newcomer = try await auth.signIn("+14155552699")
            // A sealed value begins with the length and the id of its key.
            let sealedBy = "SELECT encode(substring(sealed FROM 2 FOR 4), 'escape') FROM phones WHERE person_id = "
            #expect(try await auth.stage.rows(sealedBy + "'\(newcomer.user.id)'") == "next")
        }
    }

    @Test func onePassRemovesThousandsOfExpiredRows() async throws {
        try await AuthStage.run { auth in
            try await auth.stage.rows(
                """
                INSERT INTO social_nonces (hash, provider, expires_at)
                SELECT sha256(n::text::bytea), 'google', now() - interval '1 hour' FROM generate_series(1, 3500) AS n
                """)
            try await Housekeeping.run(auth.stage.containers[0].database, audit: auth.stage.containers[0].audit)
            #expect(try await auth.stage.rows("SELECT count(*) FROM social_nonces") == "0")
        }
    }

    @Test func theTablesHoldNoPlainPhoneNumberOrCode() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.phone)
            let code = try await auth.code(for: "+14155552672").code
            let dump = try await auth.stage.rows(
                "SELECT p::text FROM phones p UNION ALL SELECT c::text FROM challenges c UNION ALL SELECT o::text FROM outbox o"
            )
            let digits = Self.phone.dropFirst().utf8.map { "3\($0 - 48)" }.joined()
            #expect(!dump.contains("4155552671") && !dump.contains(digits) && !dump.isEmpty)
            // It contains neither the code nor an unkeyed hash of it, which a table of all codes would reveal.
            for bytes in [Array(code.utf8), SHA256.digest(Array(code.utf8))] {
                #expect(!dump.contains(Hex.encode(bytes)))
            }
        }
    }

    @Test func aSuspendedAccountLooksLikeNoneToAClaimant() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.phone)
            try await auth.stage.rows("UPDATE accounts SET status = 'suspended'")
            let recovery = try auth.stage.asking(as: .recovery)
            let (challenge, code) = try await auth.code(for: "+46701234567", purpose: "recovery")
            let begin = BeginRecovery(
                caseID: .ordered(), accountPhone: Self.phone, challengeID: challenge, code: code,
                device: AuthStage.device, freezeSeconds: 60)
            let begun = try await recovery.call(begin, auth.options())
            #expect(begun.accountID == nil && begun.maskedClaimantPhone == "+46 (***) ***-4567")
            #expect(try await recovery.call(begin, auth.options()) == begun, "the same case, the same answer")
        }
    }

    @Test func aClaimBegunManyTimesAtOnceIsAnsweredTheSame() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let recovery = try auth.stage.asking(as: .recovery)
            let (challenge, code) = try await auth.code(for: "+46701234567", purpose: "recovery")
            let begin = BeginRecovery(
                caseID: .ordered(), accountPhone: Self.phone, challengeID: challenge, code: code,
                device: AuthStage.device, freezeSeconds: 60)
            let outcomes = try await atOnce(8) { () -> String in
                do {
                    return try await recovery.call(begin, auth.options()).caseID.description
                } catch let error as BusError {
                    return error.code
                }
            }
            #expect(outcomes.contains(begin.caseID.description))
            #expect(Set(outcomes).isSubset(of: [begin.caseID.description, "overloaded"]))
            #expect(try await auth.stage.rows("SELECT count(*) FROM freezes") == "1")
        }
    }

    @Test func aClaimFreezesTheAccountUntilItsCaseIsClosed() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.phone)
            let recovery = try auth.stage.asking(as: .recovery)
            let (challenge, code) = try await auth.code(for: "+46701234567", purpose: "recovery")
            let begin = BeginRecovery(
                caseID: .ordered(), accountPhone: "001 415 555 2671", challengeID: challenge, code: code,
                device: AuthStage.device, freezeSeconds: 60)
            let begun = try await recovery.call(begin, auth.options())
            #expect(begun.accountID == owner.user.id)
            let frozen = "SELECT count(*) FROM freezes WHERE ended_at IS NULL AND until > now()"
            #expect(try await auth.stage.rows(frozen) == "1")
            let closed = CaseClosed(
                personID: owner.user.id, personSequence: 1, caseID: begin.caseID, outcome: "disputed",
                closedAt: .now())
            for _ in 0..<2 { _ = try await recovery.call(closed, auth.options()) }
            #expect(try await auth.stage.rows(frozen) == "0")
        }
    }
}
