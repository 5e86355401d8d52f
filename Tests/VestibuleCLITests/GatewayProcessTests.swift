import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

/// Gateways and auth as they were built, two of each.
@Suite("gateways, process by process", .serialized) struct GatewayProcessTests {
    private static let path = "/auth/sessions"

    @Loop private func options(_ session: Session? = nil) -> CallOptions {
        CallOptions(
            timeout: .seconds(10),
            actor: session.map { Actor(userID: $0.user.id, sessionID: $0.sessionId, role: .user) },
            clientAddress: "192.0.2.7")
    }

    private func ask(_ port: Int, _ token: String, _ path: String = path) async throws -> Exchange {
        let head = "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n\r\n"
        return try await Exchange(port: port, request: head)
    }

    /// Two of auth, and two gateways that answer.
    @Loop private func begin(_ fleet: Fleet) async throws -> [Int] {
        for _ in 0..<2 { try fleet.start(.auth) }
        try await fleet.ready(.auth, 2)
        try await fleet.wait(until: "SELECT count(*) > 0 FROM auth.signing_keys", is: "t")
        let gateways = try (0..<2).map { _ in try fleet.startGateway() }
        for gateway in gateways {
            try #require(
                try await eventually {
                    (try? await ask(gateway, "", "/.well-known/jwks.json"))?.status == 200
                })
        }
        return gateways
    }

    @Test(.timed) func anEndedSessionIsRefusedByEveryGatewayWithinASecond() async throws {
        try await Fleet.run { fleet in
            let gateways = try await begin(fleet)
            let session = try await fleet.signIn("+14155552671")
            for gateway in gateways {
                #expect(try await eventually { try await ask(gateway, session.accessToken).status == 200 })
            }
            // One starts while it ends: it never takes the token.
            let newcomer = try fleet.startGateway()
            _ = try await fleet.gateway.call(Logout(), options(session))
            let ended = MonotonicClock.now()
            for gateway in gateways {
                #expect(
                    try await eventually {
                        try await ask(gateway, session.accessToken).json["code"] == "token_revoked"
                    })
            }
            #expect(MonotonicClock.now() < ended + Duration.seconds(1).nanoseconds, .time)
            var statuses: Set<Int> = []
            #expect(
                try await eventually {
                    if let answer = try? await ask(newcomer, session.accessToken) { statuses.insert(answer.status) }
                    return statuses.contains(401)
                })
            #expect(statuses.isSubset(of: [401, 503]), "\(statuses)")
        }
    }

    /// What was answered under load.
    @Loop private final class Tally {
        var statuses: [Int: Int] = [:]
        var kids: Set<String> = []
        var isOver = false
    }

    @Test func signingKeysRotateUnderLoadWithoutOneFalse401() async throws {
        try await Fleet.run { fleet in
            let (gateways, tally) = (try await begin(fleet), Tally())
            var load: [Task<Void, any Error>] = []
            for number in 1...4 {
                let session = try await fleet.signIn("+1415555267\(number)")
                load.append(Loop.spawn { try await use(session, at: gateways, fleet, tally) })
            }
            let rotated = try await fleet.asking(as: .operator, .auth).call(RotateSigningKey(), options())
            // Replicas look for it by themselves, gateways each minute and where somebody shows a key that they do not know.
            for replica in try await fleet.eachReplica(of: .auth) {
                let isKnown = try await eventually {
                    try await replica.call(GetSigningKeys(), options()).keys.contains { $0.kid == rotated.kid }
                }
                try #require(isKnown)
            }
            let stranger = try await fleet.signIn("+14155552679").accessToken
            for gateway in gateways {
                let isPublished = try await eventually {
                    _ = try await ask(gateway, Self.withUnknownKey(stranger))
                    return try await ask(gateway, "", "/.well-known/jwks.json").text.contains(rotated.kid)
                }
                #expect(isPublished)
            }
            // Ten minutes pass for the signing keys.
            try await fleet.sql("UPDATE auth.signing_keys SET signs_from = signs_from - interval '10 minutes'")
            #expect(try await eventually { tally.kids.contains(rotated.kid) }, "the new one signs")
            let answered = tally.statuses[200] ?? 0
            #expect(try await eventually { (tally.statuses[200] ?? 0) > answered + 100 })
            tally.isOver = true
            for task in load { try await task.value }
            #expect(Set(tally.statuses.keys) == [200], "\(tally.statuses)")
            #expect(tally.kids.count == 2)
        }
    }

    /// One person's requests at all gateways in turn, with a new pair of tokens after each ten.
    @Loop private func use(_ first: Session, at gateways: [Int], _ fleet: Fleet, _ tally: Tally) async throws {
        var (session, turn) = (first, 0)
        while !tally.isOver {
            let status = try await ask(gateways[turn % gateways.count], session.accessToken).status
            tally.statuses[status, default: 0] += 1
            if let kid = try Self.header(of: session.accessToken)["kid"]?.stringValue { tally.kids.insert(kid) }
            turn += 1
            guard turn % 10 == 0 else { continue }
            let refresh = RefreshToken(refreshToken: session.refreshToken)
            let key = fleet.options(key: "refresh-\(turn)-of-\(first.sessionId)")
            session = try await EffectOnceTests.insist { try await fleet.gateway.call(refresh, key) }
        }
    }

    private static func header(of token: String) throws -> JSONValue {
        try JSONValue.parse(try #require(Base64URL.decode(String(token.prefix { $0 != "." }))))
    }

    private static func withUnknownKey(_ token: String) throws -> String {
        var header = try #require(try header(of: token).objectValue)
        header["kid"] = "unknown"
        return Base64URL.encode(CanonicalJSON.bytes(of: .object(header))) + token.drop { $0 != "." }
    }
}
