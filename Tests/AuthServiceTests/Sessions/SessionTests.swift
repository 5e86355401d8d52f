import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import AuthService

@Suite("sessions") struct SessionTests {
    private static let phone = "+14155552671"

    private func actor(_ session: Session) -> Actor {
        Actor(userID: session.user.id, sessionID: session.sessionId, role: .user)
    }

    /// Sessions of one person on a device each, the newest last.
    @Loop private func signIn(_ auth: AuthStage, _ count: Int) async throws -> [Session] {
        var sessions: [Session] = []
        for _ in 0..<count {
            try await auth.age("20 minutes")
            sessions.append(try await auth.signIn(Self.phone))
        }
        return sessions
    }

    /// Housekeeping looks for them each minute, among those that go on. With few rows, PostgreSQL would search the indexes
    /// for any form of the statement.
    @Test func expiredSessionsAreFoundWithoutReadingTheRest() async throws {
        try await AuthStage.run { auth in
            let read = try await auth.stage.rowsRead(
                of: "sessions", by: SessionStore.overdue.sql, [30 * 86_400, 180 * 86_400],
                after: """
                    INSERT INTO sessions (id, person_id, device_id)
                    SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 30000)
                    """)
            #expect(try #require(read) < 100)
        }
    }

    @Test func aRefreshMovesTheDayByWhichUnusedSessionsAreFound() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            try await auth.stage.rows("UPDATE sessions SET used_on = '2020-01-01'")
            _ = try await auth.ask(RefreshToken(refreshToken: session.refreshToken))
            #expect(try await auth.stage.rows("SELECT used_on > now() - interval '2 days' FROM sessions") == "t")
        }
    }

    @Test func areListedWithTheirDevices() async throws {
        try await AuthStage.run { auth in
            let sessions = try await signIn(auth, 2)
            _ = try await auth.signIn("+14155552672")
            let list = try await auth.ask(ListSessions(), as: actor(sessions[0])).sessions
            #expect(list.map(\.id) == [sessions[1].sessionId, sessions[0].sessionId], "the one used last first")
            #expect(list.map(\.current) == [false, true])
            #expect(list.map(\.device.id) == [sessions[1].deviceId, sessions[0].deviceId])
            #expect(list.allSatisfy { $0.device.name == "Pixel 9" && $0.device.platform == "android" })
            _ = try await auth.ask(RefreshToken(refreshToken: sessions[0].refreshToken))
            let renewed = try await auth.ask(ListSessions(), as: actor(sessions[0])).sessions
            #expect(renewed.first?.id == sessions[0].sessionId)
        }
    }

    @Test func sessionsEndOneByOneOrAllButTheCurrentOne() async throws {
        try await AuthStage.run { auth in
            let sessions = try await signIn(auth, 4)
            let stranger = try await auth.signIn("+14155552672")
            let unknown = EndSession(sessionId: sessions[0].sessionId)
            #expect(try await auth.refusal(of: unknown, as: actor(stranger)).code == "not_found")
            for _ in 0..<2 {
                _ = try await auth.ask(EndSession(sessionId: sessions[1].sessionId), as: actor(sessions[0]))
            }
            #expect(
                try await auth.ask(FollowRevocations(waitMs: 0)).revocations.map(\.sessionID) == [sessions[1].sessionId]
            )
            let refused = try await auth.refusal(of: RefreshToken(refreshToken: sessions[1].refreshToken))
            #expect(refused.code == "refresh_token_invalid")

            for _ in 0..<2 { _ = try await auth.ask(EndOtherSessions(), as: actor(sessions[0])) }
            let list = try await auth.ask(ListSessions(), as: actor(sessions[0])).sessions
            #expect(list.map(\.id) == [sessions[0].sessionId])
            let ended = try await auth.ask(FollowRevocations(waitMs: 0)).revocations.map(\.sessionID)
            #expect(Set(ended) == Set(sessions.dropFirst().map(\.sessionId)) && ended.count == 3)
            #expect(try await auth.ask(CheckSession(sessionID: stranger.sessionId)).isActive)
        }
    }

    @Test("are over by their age", arguments: [(30, 30), (180, 1)])
    func age(daysOld: Int, daysIdle: Int) async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            func grow(_ correction: String) async throws {
                try await auth.stage.rows(
                    """
                    UPDATE sessions SET created_at = now() - interval '\(daysOld) days' + interval '\(correction)',
                        last_used_at = now() - interval '\(daysIdle) days' + interval '\(correction)',
                        used_on = now() - interval '\(daysIdle) days' + interval '\(correction)'
                    """)
            }
            try await grow("1 minute")
            try await Housekeeping.run(auth.stage.containers[0].database, audit: auth.stage.containers[0].audit)
            #expect(try await auth.ask(CheckSession(sessionID: session.sessionId)).isActive)
            #expect(try await auth.ask(ListSessions(), as: actor(session)).sessions.count == 1)
            try await grow("0")
            let refused = try await auth.refusal(of: RefreshToken(refreshToken: session.refreshToken))
            #expect(refused.code == "refresh_token_invalid")
            #expect(try await auth.ask(ListSessions(), as: actor(session)).sessions.isEmpty)
            // Access tokens that are left of it end with it.
            try await Housekeeping.run(auth.stage.containers[0].database, audit: auth.stage.containers[0].audit)
            #expect(try await !auth.ask(CheckSession(sessionID: session.sessionId)).isActive)
            #expect(
                try await auth.ask(FollowRevocations(waitMs: 0)).revocations.map(\.sessionID) == [session.sessionId])
        }
    }
}
