import BusProtocol
import BusRuntime
import Database
import EventLoop
import TestSupport
import Testing

@testable import AuthService

/// The acts that auth records in the audit trail.
@Suite("audit in auth") struct AuditTests {
    private static let phone = "+14155552671"

    private func actor(_ session: Session) -> Actor {
        Actor(userID: session.user.id, sessionID: session.sessionId, role: .user)
    }

    /// The acts of the only person, in their order.
    @Loop private func acts(_ auth: AuthStage) async throws -> [String] {
        let rows = try await auth.stage.rows(
            "SELECT act || coalesce(' ' || (details::jsonb->>'why'), '') FROM audit WHERE chain <> 'service' ORDER BY sequence"
        )
        return rows.split(separator: "\n").map(String.init)
    }

    @Loop private func holds(_ auth: AuthStage) async throws -> Bool {
        let container = auth.stage.containers[0]
        return try await AuditVerifier(database: container.database, keys: container.keys).verify(against: nil).findings
            .isEmpty
    }

    @Test func theTrailRecordsSignInsAndEndsOfSessions() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            var sessions: [Session] = []
            for _ in 0..<4 {
                try await auth.age("20 minutes")
                sessions.append(try await auth.signIn(Self.phone))
            }
            let opened = ["device_added", "session_opened"]
            #expect(try await acts(auth) == ["account_created"] + opened + opened + opened + opened)
            let before = try await acts(auth).count
            // The second time there is nothing to end.
            for _ in 0..<2 { _ = try await auth.ask(Logout(), as: actor(sessions[0])) }
            _ = try await auth.ask(EndSession(sessionId: sessions[1].sessionId), as: actor(sessions[2]))
            _ = try await auth.ask(EndOtherSessions(), as: actor(sessions[2]))
            #expect(
                try await acts(auth).dropFirst(before) == [
                    "session_ended logout", "session_ended ended", "session_ended ended",
                ])
            let ids = try await auth.stage.rows(
                "SELECT details::jsonb->>'session' FROM audit WHERE act = 'session_ended' ORDER BY sequence")
            #expect(
                ids == [sessions[0], sessions[1], sessions[3]].map(\.sessionId.description).joined(separator: "\n"))
            #expect(try await holds(auth))
        }
    }

    @Test func theTrailRecordsHowASessionWasOpened() async throws {
        try await SocialStage.run { social in
            let linked = try await social.link("google", subject: "108", to: Self.phone)
            let opened = try #require(try await social.session("google", subject: "108"))
            let acts = try await social.auth.stage.rows(
                """
                SELECT details::jsonb->>'session', details::jsonb->>'by' FROM audit WHERE act = 'session_opened'
                ORDER BY sequence
                """)
            #expect(acts == "\(linked.sessionId)|code\n\(opened.sessionId)|google")
        }
    }

    @Test func theTrailRecordsCallsMadeAsAnOperator() async throws {
        try await AuthStage.run { auth in
            let operators = try auth.stage.asking(as: .operator)
            var options = auth.options()
            // A message for operators needs no `isAsOperator`. A message for programs does.
            _ = try await operators.call(ListRoles(), options)
            options.isAsOperator = true
            let refused = await #expect(throws: BusError.self) { try await operators.call(Logout(), options) }
            #expect(refused?.code == "unauthorized", "in nobody's name")
            let noted = "SELECT details FROM audit WHERE act = 'operator_called' AND chain = 'service'"
            let row = #"{"message":"\#(options.messageID)","type":"auth.logout"}"#
            #expect(try await eventually { try await auth.stage.rows(noted) == row })
            #expect(try await holds(auth))
        }
    }

    @Test func theTrailRecordsAReusedRefreshToken() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let renewed = try await auth.ask(RefreshToken(refreshToken: session.refreshToken))
            _ = try await auth.ask(RefreshToken(refreshToken: renewed.refreshToken))
            let stolen = try await auth.refusal(of: RefreshToken(refreshToken: session.refreshToken))
            #expect(stolen.code == "refresh_token_reused")
            #expect(try await acts(auth).last == "session_ended reuse")
            #expect(try await holds(auth))
        }
    }

    @Test func theTrailRecordsASessionEndedByAge() async throws {
        try await AuthStage.run { auth in
            _ = try await auth.signIn(Self.phone)
            try await auth.stage.rows(
                "UPDATE sessions SET (last_used_at, used_on) = (now() - interval '31 days', now() - interval '31 days')"
            )
            let container = auth.stage.containers[0]
            _ = try await atOnce(4) {
                try await patiently { try await Housekeeping.run(container.database, audit: container.audit) }
            }
            #expect(try await acts(auth).filter { $0.hasPrefix("session_ended") } == ["session_ended age"])
        }
    }

    @Test func theTrailRecordsAChangeOfAnotherDevice() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone)
            try await auth.age("20 minutes")
            let second = try await auth.signIn(Self.phone)
            let change = PutDevice(deviceId: first.deviceId, name: "Mine", platform: "ios")
            _ = try await auth.ask(change, as: actor(first))
            #expect(try await acts(auth).last == "session_opened", "it is its own")
            _ = try await auth.ask(change, as: actor(second))
            #expect(try await acts(auth).last == "device_changed")
        }
    }

    @Test func theTrailRecordsARemovedDeviceAndItsSessionsOnce() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone, push: "t1")
            let second = try await auth.signIn(Self.phone, push: "t2")
            let before = try await acts(auth).count
            for _ in 0..<2 {
                _ = try await auth.ask(RemoveDevice(deviceId: first.deviceId), as: actor(second))
            }
            #expect(try await acts(auth).dropFirst(before) == ["session_ended device", "device_removed"])
            #expect(try await holds(auth))
        }
    }

    @Test("a locked code is in the trail of the account with its number", arguments: [true, false])
    func lockedCode(hasAccount: Bool) async throws {
        try await AuthStage.run { auth in
            if hasAccount { _ = try await auth.signIn(Self.phone) }
            try await auth.age("20 minutes")
            let (challenge, code) = try await auth.code(for: Self.phone)
            let wrong = VerifyOTP(challengeId: challenge, code: AuthStage.wrong(code), device: AuthStage.device)
            for _ in 0..<4 { _ = try await auth.refusal(of: wrong) }
            #expect(try await acts(auth).filter { $0 == "code_locked" } == (hasAccount ? ["code_locked"] : []))
            #expect(try await auth.stage.rows("SELECT count(*) FROM audit WHERE act = 'code_locked'") == "1")
        }
    }

    @Test func theTrailRecordsARecoveryAndItsEnd() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let (challenge, code) = try await auth.code(for: "+14155552672", purpose: "recovery")
            let id = Identifier.ordered()
            let begin = BeginRecovery(
                caseID: id, accountPhone: Self.phone, challengeID: challenge, code: code, device: AuthStage.device,
                freezeSeconds: 3600)
            let recovery = try auth.stage.asking(as: .recovery)
            for _ in 0..<2 { _ = try await recovery.call(begin, auth.options()) }
            let closed = CaseClosed(
                personID: session.user.id, personSequence: 1, caseID: id, outcome: "disputed", closedAt: .now())
            for _ in 0..<2 { _ = try await recovery.call(closed, auth.options()) }
            #expect(try await acts(auth).suffix(2) == ["recovery_begun", "recovery_ended"])
        }
    }

    @Test func theTrailHoldsNoUserIdOrPhoneNumber() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let trail = try await auth.stage.rows("SELECT string_agg(a::text, '') FROM audit a")
            #expect(trail.contains(session.sessionId.description))
            #expect(!trail.contains(session.user.id.description) && !trail.contains(Self.phone.dropFirst()))
            #expect(try await auth.stage.rows("SELECT act FROM audit WHERE chain = 'service'") == "signing_key_made")
        }
    }
}
