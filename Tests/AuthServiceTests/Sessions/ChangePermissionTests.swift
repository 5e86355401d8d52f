import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import TestSupport
import Testing

@testable import AuthService

/// What a session may do to its account: how fresh its sign-in is, and whether the account is frozen.
@Suite("permission to change an account") struct ChangePermissionTests {
    private static let phone = "+14155552671"

    @Loop private func permission(_ session: Session, _ auth: AuthStage) async throws -> ChangePermission {
        try await auth.stage.containers[0].database.transaction {
            try await AccountChangeGuard.permission(of: actor(session), in: $0)
        }
    }

    private func actor(_ session: Session) -> Actor {
        Actor(userID: session.user.id, sessionID: session.sessionId, role: .user)
    }

    /// Opens a recovery case for the phone's account that freezes it for a minute.
    @Loop private func claim(_ auth: AuthStage) async throws -> Identifier {
        let (challenge, code) = try await auth.code(for: "+46701234567", purpose: "recovery")
        let begin = BeginRecovery(
            caseID: .ordered(), accountPhone: Self.phone, challengeID: challenge, code: code,
            device: AuthStage.device, freezeSeconds: 60)
        return try await auth.stage.asking(as: .recovery).call(begin, auth.options()).caseID
    }

    @Loop private func close(_ caseID: Identifier, of person: Identifier, _ outcome: String, _ auth: AuthStage)
        async throws
    {
        let closed = CaseClosed(
            personID: person, personSequence: 1, caseID: caseID, outcome: outcome, closedAt: .now())
        _ = try await auth.stage.asking(as: .recovery).call(closed, auth.options())
    }

    @Test func isFreshForFiveMinutesAfterACode() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            #expect(try await permission(session, auth).isFresh)
            // Just within the five minutes: the two statements run less than five seconds apart.
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '295 s'")
            #expect(try await permission(session, auth).isFresh)
            _ = try await auth.ask(RefreshToken(refreshToken: session.refreshToken))
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 s'")
            #expect(try await !permission(session, auth).isFresh, "renewing its tokens is no sign-in")
            try await auth.stage.rows("UPDATE sessions SET otp_at = NULL")
            #expect(try await !permission(session, auth).isFresh, "something else opened it")
        }
    }

    @Test func anotherSessionsCodeCountsForThatSessionOnly() async throws {
        try await AuthStage.run { auth in
            let old = try await auth.signIn(Self.phone)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '300 s'")
            try await auth.age("20 minutes")
            let new = try await auth.signIn(Self.phone)
            #expect(try await permission(new, auth).isFresh)
            #expect(try await !permission(old, auth).isFresh)
        }
    }

    @Test("an open case freezes the account until it is over", arguments: ["disputed", "cancelled", "expired"])
    func freeze(outcome: String) async throws {
        try await AuthStage.run(environment: ["RECOVERY_HOLD": "60s"]) { auth in
            let session = try await auth.signIn(Self.phone)
            #expect(try await permission(session, auth).frozenFor == nil)
            let caseID = try await claim(auth)
            let left = try #require(try await permission(session, auth).frozenFor)
            #expect(.seconds(50)...Duration.seconds(60) ~= left)
            try await close(caseID, of: session.user.id, outcome, auth)
            #expect(try await permission(session, auth).frozenFor == nil)
        }
    }

    @Test func aCompletedCaseFreezesItForTwoMoreDays() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let caseID = try await claim(auth)
            try await close(caseID, of: session.user.id, "completed", auth)
            let left = try #require(try await permission(session, auth).frozenFor)
            #expect(Duration.seconds(48 * 3600 - 10)...Duration.seconds(48 * 3600) ~= left)
            try await auth.stage.rows("UPDATE freezes SET until = until - interval '48 hours'")
            #expect(try await permission(session, auth).frozenFor == nil)
        }
    }

    @Test func isThatOfALivingSessionOfThePersonOnly() async throws {
        try await AuthStage.run { auth in
            let (session, stranger) = (try await auth.signIn(Self.phone), try await auth.signIn("+14155552672"))
            var mixed = session
            mixed.sessionId = stranger.sessionId
            for refused in [mixed, session] {
                // The second one ends first.
                if refused == session { _ = try await auth.ask(Logout(), as: actor(session)) }
                let error = await #expect(throws: BusError.self) { try await permission(refused, auth) }
                #expect(error?.code == "unauthorized")
            }
            try await auth.stage.rows("UPDATE accounts SET status = 'deleted' WHERE id = '\(stranger.user.id)'")
            let error = await #expect(throws: BusError.self) { try await permission(stranger, auth) }
            #expect(error?.code == "unauthorized")
        }
    }

    @Test func aClaimWaitsForAConcurrentMoveOfTheAccount() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let database = auth.stage.containers[0].database
            let number = try #require(PhoneNumber(Self.phone))
            let phone = Secrets(auth.stage.containers[0].keys).hashes(of: number)
            try await database.transaction { moving in
                _ = try await AccountChangeGuard.permission(of: actor(session), in: moving)
                let error = await #expect(throws: DatabaseError.self) {
                    try await database.transaction {
                        try await BeginRecoveryHandler.reachable(by: .contact(.phone, phone), in: $0)
                    }
                }
                #expect(error?.isLockTimeout == true)
            }
        }
    }

    @Test func itsRefusalsNameTheRemedy() throws {
        let old = ChangePermission(isFresh: false, frozenFor: .seconds(90))
        let stale = #expect(throws: BusError.self) { try old.mustBeFresh(to: Sentence("unlink Google")) }
        #expect(stale?.code == "reauthentication_required" && stale?.detail == "Please sign in again to unlink Google.")
        let frozen = #expect(throws: BusError.self) { try old.mustNotBeFrozen() }
        #expect(frozen?.code == "account_frozen" && frozen?.retryAfterMs == 90_000)
        let free = ChangePermission(isFresh: true, frozenFor: nil)
        #expect(throws: Never.self) { try free.mustBeFresh(to: Sentence("unlink Google")) }
        #expect(throws: Never.self) { try free.mustNotBeFrozen() }
    }
}
