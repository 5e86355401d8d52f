import BusProtocol
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import BusRuntime

@Suite("Keys of the bus") struct KeyTests {
    private static func key(_ hex: String) -> BusKey? {
        let digits = Array(hex)
        let bytes = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(digits[$0..<($0 + 2)]), radix: 16) ?? 0
        }
        return BusKey(base64: Data(bytes).base64EncodedString())
    }

    /// The keys are from RFC 7748, 6.1.
    @Test func aPublicKeyIsThatOfCurve25519() throws {
        let secret = try #require(Self.key("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
        let expected = Self.key("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        #expect(try secret.publicKey() == expected)
        #expect(!"\(secret) \(String(reflecting: secret))".contains("119"), "its bytes are printed nowhere")
    }

    @Test(arguments: ["", "x", "AAAA", String(repeating: "A", count: 44), String(repeating: "A", count: 45)])
    func refusesAKeyThatIsNot32Bytes(text: String) { #expect(BusKey(base64: text) == nil) }

    @Test func aListNamesEachKeyOnce() throws {
        let (a, b, c) = (try BusKey.newSecret(), try BusKey.newSecret(), try BusKey.newSecret())
        let list = try AllowList("# people\n\nauth \(a.base64)\r\n  auth\t\(b.base64)\nauth \(a.base64)\n#auth x\n")
        #expect(list.keys(of: "auth") == [a, b] && list.keys(of: "#auth").isEmpty)
        #expect(list.service(of: a) == "auth" && list.service(of: c) == nil)
        for (text, line) in [
            ("auth", 1), ("auth \(a.base64) x", 1), ("\nauth \(a.base64.dropLast())", 2),
            ("auth \(a.base64)\nprofile \(a.base64)", 2),
        ] {
            let error = #expect(throws: AllowList.ParseError.self) { try AllowList(text) }
            #expect(error?.description.hasPrefix("line \(line): ") == true)
        }
    }

    @Test func aCallerWithAnAllowedKeyIsAnswered() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            _ = try lab.server { $0.security = try? keys.security(of: .auth) }
            let caller = try lab.client { $0.security = try? keys.security(of: .gateway) }
            #expect(try await caller.call(Echo(text: "Åsa"), .standard).text == "Åsa")
        }
    }

    /// Each stranger lacks only one thing that an allowed caller has.
    @Test func strangersReachNoHandler() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            var heard: [String] = []
            let handler = EchoHandler { request, _ in
                heard.append(request.text)
                return request.text
            }
            let server = try lab.server({ $0.security = try? keys.security(of: .auth) }, handlers: [handler])
            let endpoint = try #require(server.endpoint)
            let serverKey = try #require(try keys.publicKey(of: .auth))
            let plain = RawPeer.caller(of: endpoint)
            let unknown = try RawPeer.caller(of: endpoint, secret: try BusKey.newSecret(), towards: serverKey)
            let profile = try #require(BusKey(base64: keys.secret(of: .profile)))
            let misled = try RawPeer.caller(of: endpoint, secret: profile, towards: try BusKey.newSecret())
            // Its key belongs to another service than its name.
            let impostor = try RawPeer.caller(of: endpoint, secret: profile, towards: serverKey)
            for (text, peer) in [("plain", plain), ("unknown", unknown), ("misled", misled), ("impostor", impostor)] {
                peer.send(FrameHeader(kind: .hello), RawPeer.hello(.gateway))
                peer.send(.echo(7), Array(#"{"text":"\#(text)"}"#.utf8))
            }
            let (_, body) = try #require(try await impostor.receive(.error))
            #expect(String(decoding: body, as: UTF8.self).contains(#""executed":"no""#))
            // The allowed caller comes last, so its answer shows that the others had their time.
            let caller = try lab.client { $0.security = try? keys.security(of: .gateway) }
            _ = try await caller.call(Echo(text: "allowed"), .standard)
            for peer in [plain, unknown, misled] { #expect(try await peer.receive(within: .milliseconds(300)).isEmpty) }
            #expect(heard == ["allowed"])
        }
    }

    @Test(.timed) func revokingAKeyTakesEffectOnOpenConnectionsAndCanBeUndone() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            let security = try keys.security(of: .auth)
            var refused: [BusKey] = []
            security.onRefusal = { refused.append($0) }
            _ = try lab.server { $0.security = security }
            let own = try keys.security(of: .gateway)
            var problems: [String] = []
            own.onProblem = { problems.append($0) }
            let caller = try lab.client {
                $0.security = own
                $0.grace = .milliseconds(50)
            }
            let other = try lab.client(.profile) { $0.security = try? keys.security(of: .profile) }
            #expect(try await eventually { caller.hasReadyReplica(of: .auth) && other.hasReadyReplica(of: .auth) })
            _ = try await caller.call(Echo(text: "before"), .standard)
            try keys.revoke(.gateway)
            let isRefused = try await eventually(within: .seconds(1)) {
                let error = await failure { () throws(BusError) in
                    try await caller.call(Echo(text: "revoked"), .within(.milliseconds(100)))
                }
                return error?.executed == .no
            }
            #expect(isRefused, .time("within a second"))
            // The refused key is reported, and its own program learns that it was revoked.
            #expect(refused.first == (try keys.publicKey(of: .gateway)))
            #expect(try await eventually { caller.absence(of: .auth) == .ownKeyRevoked })
            #expect(problems == ["the key of this program was removed from the list: its messages are refused"])
            #expect(try await other.call(Echo(text: "others go on"), .standard).text == "others go on")
            try keys.allow(.gateway)
            let recovered = try await eventually(within: .seconds(5)) {
                await failure { () throws(BusError) in
                    try await caller.call(Echo(text: "again"), .within(.milliseconds(200)))
                } == nil
            }
            #expect(recovered, .time("within five seconds"))
        }
    }

    @Test(.timed) func aCallerWithAKeyAllowedLaterConnectsByItself() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            try keys.revoke(.gateway)
            let security = try keys.security(of: .auth)
            var refused: [BusKey] = []
            security.onRefusal = { refused.append($0) }
            _ = try lab.server { $0.security = security }
            let caller = try lab.client {
                $0.security = try? keys.security(of: .gateway)
                $0.grace = .seconds(20)
            }
            let call = Loop.spawn { try await caller.call(Echo(text: "patience"), .within(.seconds(15))) }
            // The first handshake is refused.
            #expect(try await eventually { !refused.isEmpty })
            #expect(refused.first == (try keys.publicKey(of: .gateway)))
            try keys.allow(.gateway)
            let began = MonotonicClock.now()
            #expect(try await call.value.text == "patience")
            #expect(MonotonicClock.now() - began < Duration.seconds(5).nanoseconds, .time)
        }
    }

    @Test func anOperatorMayReadAndNeedsAnOptionForWrites() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            let charge = ChargeHandler { context in
                #expect(context.actor == nil, "in nobody's name")
                return "charged by \(context.caller)"
            }
            let server = try lab.server(
                { $0.security = try? keys.security(of: .auth) }, handlers: [EchoHandler(), charge])
            var told: [MessageType] = []
            server.onOperatorCall = { type, _ in told.append(type) }
            let tool = try lab.client(.operator) { $0.security = try? keys.security(of: .operator) }
            #expect(try await tool.call(Echo(text: "reads"), .standard).text == "reads")
            let refused = await failure { () throws(BusError) in try await tool.call(Charge(), .standard) }
            #expect(refused?.code == "caller_not_allowed" && refused?.executed == .no && told.isEmpty)
            var options = CallOptions.standard
            options.isAsOperator = true
            let actor = Actor(userID: .random(), sessionID: .random(), role: .admin)
            options.actor = actor
            #expect(try await tool.call(Charge(), options).text == "charged by operator")
            #expect(told == [Charge.type])
            // The option needs the key of an operator.
            let profile = try lab.client(.profile) { $0.security = try? keys.security(of: .profile) }
            let other = await failure { () throws(BusError) in try await profile.call(Charge(), options) }
            #expect(other?.code == "caller_not_allowed" && told == [Charge.type])
        }
    }

    @Test(.timed) func aServiceMayChangeItsKeyWhileItsReplicasGoOn() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            _ = try lab.server(
                { $0.security = try? keys.security(of: .auth) }, handlers: [EchoHandler { _, _ in "old" }])
            let caller = try lab.client { $0.security = try? keys.security(of: .gateway) }
            #expect(try await caller.call(Echo(text: "?"), .standard).text == "old")
            let renewed = try BusKey.newSecret()
            try keys.add(try renewed.publicKey(), as: .auth)
            let replacement = try BusSecurity(secret: renewed.base64, allowList: keys.list)
            _ = try lab.server({ $0.security = replacement }, handlers: [EchoHandler { _, _ in "new" }])
            #expect(try await eventually { try await caller.call(Echo(text: "?"), .standard).text == "new" })
            // Once its key is removed, the old replica gets no more calls, although it still runs.
            try keys.revokeOwn(.auth)
            let began = MonotonicClock.now()
            #expect(try await eventually { caller.replicas(of: .auth).count { $0.isAlive } == 1 })
            #expect(MonotonicClock.now() - began < Duration.seconds(2).nanoseconds, .time)
            for _ in 0..<8 { #expect(try await caller.call(Echo(text: "?"), .standard).text == "new") }
        }
    }

    @Test func anUnreadableAllowListIsReportedAndChangesNothing() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            let security = try keys.security(of: .auth)
            var problems: [String] = []
            security.onProblem = { problems.append($0) }
            _ = try lab.server { $0.security = security }
            let caller = try lab.client { $0.security = try? keys.security(of: .gateway) }
            _ = try await caller.call(Echo(text: "before"), .standard)
            try "gateway nonsense\n".write(toFile: keys.list, atomically: true, encoding: .utf8)
            #expect(try await eventually { problems.count == 1 })
            #expect(problems.first?.contains("line 1") == true)
            #expect(try await caller.call(Echo(text: "after"), .standard).text == "after")
        }
    }

    @Test func withoutAListOrAKeyNothingStarts() async throws {
        try await BusLab.run { lab in
            let key = try BusKey.newSecret().base64
            for (secret, list) in [(key, "\(lab.directory)/none"), ("no key", lab.directory)] {
                #expect(throws: BusSecurity.KeyError.self) { try BusSecurity(secret: secret, allowList: list) }
            }
        }
    }
}
