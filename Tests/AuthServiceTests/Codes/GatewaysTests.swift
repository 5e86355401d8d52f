import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService
@testable import Gateway

/// What auth and gateways promise together.
@Suite("auth behind gateways") struct GatewaysTests {
    private static let path = "/auth/sessions"

    private func actor(_ session: Session) -> Actor {
        Actor(userID: session.user.id, sessionID: session.sessionId, role: .user)
    }

    @Loop private func run(
        replicas: Int, gateways: Int, _ body: @escaping @Loop @Sendable (AuthStage, Gateways) async throws -> Void
    ) async throws {
        try await AuthStage.run(replicas: replicas) { auth in
            let gateways = try await Gateways(gateways, before: auth)
            do {
                try await body(auth, gateways)
            } catch {
                await gateways.close()
                throw error
            }
            await gateways.close()
        }
    }

    /// The key that a token says it is signed with.
    private func kid(of token: String) throws -> String? {
        let header = try #require(Base64URL.decode(String(token.prefix { $0 != "." })))
        return try JSONValue.parse(header)["kid"]?.stringValue
    }

    /// What was answered under load.
    @Loop private final class Tally {
        var statuses: [Int: Int] = [:]
        var kids: Set<String> = []
        var isOver = false
    }

    @Test func signingKeysRotateUnderLoadWithoutOneFalse401() async throws {
        try await run(replicas: 2, gateways: 2) { auth, gateways in
            let tally = Tally()
            let people = ["+14155552671", "+14155552672", "+14155552673", "+14155552674"]
            var load: [Task<Void, any Error>] = []
            for phone in people {
                let session = try await auth.signIn(phone)
                load.append(Loop.spawn { try await ask(auth, gateways, session, tally) })
            }
            let rotated = try await auth.stage.asking(as: .operator).call(RotateSigningKey(), auth.options())
            for container in auth.stage.containers { container.hurry() }
            let known = try await eventually(within: .seconds(20)) {
                auth.stage.log.text.components(separatedBy: "\"kid\":\"\(rotated.kid)\"").count == 3
            }
            try #require(known, "both replicas")
            // Gateways look for it each minute, and at once where somebody shows a key that they do not know.
            for gateway in gateways.all {
                let stranger = AccessTokenIssuer(kid: "unknown", key: Ed25519PrivateKey())
                    .token(
                        id: .ordered(), person: .random(), session: .ordered(),
                        grant: .init(role: .user, lifetime: 900), now: .now())
                let isPublished = try await eventually {
                    _ = try await Gateways.get(Self.path, at: gateway, token: stranger)
                    return try await Gateways.get("/.well-known/jwks.json", at: gateway).text.contains(rotated.kid)
                }
                #expect(isPublished)
            }
            // Ten minutes pass for the signing keys.
            try await auth.stage.rows("UPDATE signing_keys SET signs_from = signs_from - interval '10 minutes'")
            for container in auth.stage.containers { container.hurry() }
            #expect(
                try await eventually(within: .seconds(20)) { tally.kids.contains(rotated.kid) }, "the new one signs")
            let answered = tally.statuses[200] ?? 0
            #expect(try await eventually { (tally.statuses[200] ?? 0) > answered + 100 })
            tally.isOver = true
            for task in load { try await task.value }
            #expect(Set(tally.statuses.keys) == [200], "\(tally.statuses)")
            #expect(tally.kids.count == 2)
        }
    }

    /// One person's requests at all gateways in turn, with a new pair of tokens after each ten.
    @Loop private func ask(_ auth: AuthStage, _ gateways: Gateways, _ first: Session, _ tally: Tally) async throws {
        var (session, turn) = (first, 0)
        while !tally.isOver {
            let gateway = gateways.all[turn % gateways.all.count]
            let answer = try await Gateways.get(Self.path, at: gateway, token: session.accessToken)
            tally.statuses[answer.status, default: 0] += 1
            if let kid = try kid(of: session.accessToken) { tally.kids.insert(kid) }
            turn += 1
            guard turn % 10 == 0 else { continue }
            session = try await auth.ask(RefreshToken(refreshToken: session.refreshToken))
        }
    }

    @Test func theGraceOfARefreshEndsWhenTheNewAccessTokenIsUsed() async throws {
        try await run(replicas: 2, gateways: 1) { auth, gateways in
            let first = try await auth.signIn("+14155552671")
            // The one before says nothing of the new pair.
            _ = try await Gateways.get(Self.path, at: gateways.all[0], token: first.accessToken)
            #expect(try await eventually { try await auth.stage.rows("SELECT used_generation FROM sessions") == "1" })
            let second = try await auth.ask(RefreshToken(refreshToken: first.refreshToken))
            #expect(try await auth.ask(RefreshToken(refreshToken: first.refreshToken)) == second)
            let answer = try await Gateways.get(Self.path, at: gateways.all[0], token: second.accessToken)
            #expect(answer.status == 200)
            #expect(try await eventually { try await auth.stage.rows("SELECT used_generation FROM sessions") == "2" })
            let reused = try await auth.refusal(of: RefreshToken(refreshToken: first.refreshToken))
            #expect(reused.code == "refresh_token_reused")
            #expect(try await !auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
        }
    }

    @Test(.timed) func everyGatewayRefusesAnEndedSessionWithinASecond() async throws {
        try await run(replicas: 2, gateways: 3) { auth, gateways in
            let session = try await auth.signIn("+14155552671")
            for gateway in gateways.all {
                #expect(try await Gateways.get(Self.path, at: gateway, token: session.accessToken).status == 200)
            }
            // One gateway starts just before the session ends, and one after that. The second must never accept the
            // token.
            try gateways.add()
            _ = try await auth.ask(Logout(), as: actor(session))
            let ended = MonotonicClock.now()
            let newcomer = try gateways.add()
            let status = try await Gateways.get(Self.path, at: newcomer, token: session.accessToken).status
            #expect(status == 401 || status == 503)
            for gateway in gateways.all {
                let isKnown = try await eventually(within: .seconds(1)) {
                    try await Gateways.get(Self.path, at: gateway, token: session.accessToken).json["code"]
                        == "token_revoked"
                }
                #expect(isKnown, .time)
            }
            #expect(MonotonicClock.now() < ended + Duration.seconds(1).nanoseconds, .time)
        }
    }

    /// A role counts from the next sign-in on. At most a second after it is revoked, it counts no more.
    @Test(.timed) func aRoleOpensItsRoutesAndEndsWithinASecond() async throws {
        try await run(replicas: 2, gateways: 2) { auth, gateways in
            let routes =
                RouteTable.vestibule.routes + [
                    Route(ListDevices.self, at: HTTPRoute(.get, "/test/staff", .staff, "For staff.")),
                    Route(ListDevices.self, at: HTTPRoute(.get, "/test/admin", .admin, "For admins.")),
                ]
            let gateway = try gateways.add(routes: RouteTable(routes))
            @Loop func statuses(_ session: Session) async throws -> [Int] {
                var statuses: [Int] = []
                for path in ["/test/staff", "/test/admin"] {
                    statuses.append(try await Gateways.get(path, at: gateway, token: session.accessToken).status)
                }
                return statuses
            }
            @Loop func change(_ session: Session, _ role: Role, _ isGranted: Bool, by name: String) async throws
                -> String
            {
                let request = ChangeRole(
                    userID: session.user.id, role: role, isGranted: isGranted, operatorName: name)
                let bus = try auth.stage.asking(as: .operator)
                return try await bus.call(request, auth.options()).status
            }
            @Loop func isOver(_ session: Session) async throws -> Bool {
                let changed = MonotonicClock.now()
                for gateway in gateways.all {
                    let isKnown = try await eventually(within: .seconds(1)) {
                        try await Gateways.get(Self.path, at: gateway, token: session.accessToken).json["code"]
                            == "token_revoked"
                    }
                    guard isKnown else { return false }
                }
                let refresh = try await auth.refusal(of: RefreshToken(refreshToken: session.refreshToken))
                return MonotonicClock.now() < changed + Duration.seconds(1).nanoseconds
                    && refresh.code == "refresh_token_invalid"
            }

            let user = try await auth.signIn("+14155552671")
            #expect(try await eventually { try await statuses(user) == [403, 403] })
            #expect(try await change(user, "staff", true, by: "anna") == "changed")
            #expect(try await isOver(user), .time)
            let staff = try await auth.signIn("+14155552671", push: "one")
            #expect(try await statuses(staff) == [200, 403])
            #expect(try await change(staff, "admin", true, by: "anna") == "awaiting_second_operator")
            #expect(try await statuses(staff) == [200, 403], "one operator alone changes nothing")
            #expect(try await change(staff, "admin", true, by: "ben") == "changed")
            #expect(try await isOver(staff), .time)
            let admin = try await auth.signIn("+14155552671", push: "two")
            #expect(try await statuses(admin) == [200, 200])
            #expect(try await change(admin, "admin", false, by: "ben") == "awaiting_second_operator")
            #expect(try await change(admin, "admin", false, by: "anna") == "changed")
            #expect(try await isOver(admin), .time)
            #expect(try await statuses(try await auth.signIn("+14155552671", push: "three")) == [403, 403])
        }
    }
}
