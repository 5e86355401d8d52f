import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import Testing

@Suite("A call") struct CallTests {
    @Test(arguments: ["ipc", "tcp"]) func isAnswered(transport: String) async throws {
        try await BusLab.run { lab in
            let server = try lab.server(at: transport == "tcp" ? "tcp://127.0.0.1:*" : nil)
            let client = try lab.client(of: .endpoints([try #require(server.endpoint)]))
            #expect(try await client.call(Echo(text: "hé"), .standard) == Echoed(text: "hé"))
            #expect(client.hasReadyReplica(of: .auth))
            #expect(client.replicas(of: .auth).map(\.instance) == [server.configuration.instance])
            #expect(server.ended("auth.echo/v1") == ["ok": 1])
        }
    }

    @Test func ofAnUnknownTypeIsRefused() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let client = try lab.client()
            let error = await failure { () throws(BusError) in try await client.call(Charge(), .standard) }
            #expect(error?.code == "unknown_message")
            #expect(error?.executed == .no)
            #expect(server.ended("unknown") == ["unknown_message": 1])
        }
    }

    @Test func byTheWrongServiceIsRefusedBeforeItsBodyIsRead() async throws {
        try await BusLab.run { lab in
            _ = try lab.server()
            let client = try lab.client(.recovery)
            let error = await failure { () throws(BusError) in
                try await client.callRaw(
                    type: Echo.type, version: 1, rules: Echo.rules, body: Array("no json".utf8), .standard)
            }
            #expect(error?.code == "caller_not_allowed")
        }
    }

    @Test(arguments: [
        (#"{"number":10}"#, ["number too_large", "text required"]), ("{", []), (#"{"text":"a","text":"b"}"#, []),
        ("", []),
    ]) func withABadBodyIsRefusedWithAllProblems(body: String, problems: [String]) async throws {
        try await BusLab.run { lab in
            _ = try lab.server()
            let client = try lab.client()
            let error = await failure { () throws(BusError) in
                try await client.callRaw(
                    type: Echo.type, version: 1, rules: Echo.rules, body: Array(body.utf8), .standard)
            }
            #expect(error?.code == "invalid_message")
            #expect((error?.errors ?? []).map { "\($0.field) \($0.code)" }.sorted() == problems)
        }
    }

    /// libzmq would close the connection, and everybody's calls on it would fail.
    @Test func withAnAnswerThatIsTooLargeFailsAlone() async throws {
        try await BusLab.run { lab in
            let handler = EchoHandler { request, _ in String(repeating: "a", count: (request.number ?? 0) << 19) }
            let server = try lab.server(handlers: [handler])
            let client = try lab.client()
            #expect(try await client.call(Echo(text: "a", number: 1), .standard).text.count == 1 << 19)
            let error = await failure { () throws(BusError) in
                try await client.call(Echo(text: "a", number: 2), .standard)
            }
            #expect(error?.code == "internal_error" && error?.executed == .yes)
            #expect(try await client.call(Echo(text: "a"), .standard).text.isEmpty)
            #expect(server.ended("auth.echo/v1") == ["ok": 2, "internal_error": 1], "asked once each")
        }
    }

    @Test func mayHaveMembersThatOnlyNewerReadersKnow() async throws {
        try await BusLab.run { lab in
            _ = try lab.server()
            let client = try lab.client()
            let reply = try await client.callRaw(
                type: Echo.type, version: 1, rules: Echo.rules, body: Array(#"{"text":"a","later":1}"#.utf8), .standard)
            #expect(reply.body == Array(#"{"text":"a"}"#.utf8))
        }
    }

    @Test func aBodyOverTheLimitIsNeitherSentNorAccepted() async throws {
        try await BusLab.run { lab in
            _ = try lab.server()
            let client = try lab.client()
            let body = Array(#"{"text":"\#(String(repeating: "x", count: 70_000))"}"#.utf8)
            var lenient = Echo.rules
            for limit in [65_536, 100_000] {
                lenient.largestBody = limit
                let error = await failure { () throws(BusError) in
                    try await client.callRaw(type: Echo.type, version: 1, rules: lenient, body: body, .standard)
                }
                #expect(error?.code == "invalid_message")
            }
            #expect(
                try await client.call(Echo(text: String(repeating: "x", count: 60_000)), .standard).text.count == 60_000
            )
        }
    }

    @Test func carriesItsContext() async throws {
        try await BusLab.run { lab in
            var seen: [RequestContext] = []
            _ = try lab.server(handlers: [
                EchoHandler { request, context in
                    seen.append(context)
                    context.isReplay = true
                    return request.text
                }
            ])
            var options = CallOptions.within(.seconds(2), key: "key-1")
            options.actor = Actor(userID: .random(), sessionID: .ordered(), role: .user)
            options.clientAddress = "203.0.113.9"
            options.accessToken = "t.o.k"
            for service in [ServiceName.gateway, .profile] {
                let client = try lab.client(service)
                let reply = try await client.callRaw(
                    type: Echo.type, version: 1, rules: Echo.rules, body: Array(#"{"text":"a"}"#.utf8), options)
                #expect(reply.isReplay)
            }
            let (gateway, other) = (try #require(seen.first), try #require(seen.last))
            #expect(gateway.actor == options.actor && gateway.clientAddress == "203.0.113.9")
            #expect(gateway.accessToken == "t.o.k")
            #expect(gateway.messageID == options.messageID && gateway.idempotencyKey == "key-1")
            #expect(gateway.trace.traceID == options.trace.traceID && gateway.trace.spanID != options.trace.spanID)
            #expect((.seconds(1)...(.seconds(2))).contains(gateway.remaining))
            // Only a gateway may speak for people.
            #expect(other.caller == .profile && other.actor == nil && other.clientAddress == nil)
            #expect(other.accessToken == nil)
        }
    }

    @Test func passesAServicesOwnErrorsAndHidesAllOthers() async throws {
        struct Secret: Error { let text = "hunter2" }
        try await BusLab.run { lab in
            let server = try lab.server(handlers: [
                EchoHandler { request, _ in
                    if request.text == "wordless" { throw WordlessFailure() }
                    guard request.text == "domain" else { throw Secret() }
                    throw BusError(.otpLocked, "Too many attempts.", retryAfter: .seconds(9), details: ["left": 0])
                }
            ])
            var reported = 0
            server.onInternalError = { _, error in reported += error is Secret ? 1 : 0 }
            let client = try lab.client()
            let domain = await failure { () throws(BusError) in try await client.call(Echo(text: "domain"), .standard) }
            #expect(domain == BusError(.otpLocked, "Too many attempts.", retryAfter: .seconds(9), details: ["left": 0]))
            let hidden = await failure { () throws(BusError) in try await client.call(Echo(text: "other"), .standard) }
            #expect(hidden?.code == "internal_error" && hidden?.executed == .unknown)
            #expect(hidden?.detail.contains("hunter2") == false)
            #expect(reported == 1 && server.report.counters.internalErrors == 1)
            let wordless = await failure { () throws(BusError) in
                try await client.call(Echo(text: "wordless"), .standard)
            }
            #expect(wordless?.code == "internal_error" && server.report.counters.internalErrors == 2)
        }
    }

    @Test func aListenerHearsEveryAnswer() async throws {
        try await BusLab.run { lab in
            let server = try lab.server(handlers: [
                EchoHandler { request, _ in
                    guard request.text == "good" else { throw BusError(.notFound, "There is none.") }
                    return request.text
                }
            ])
            var told: [String] = []
            server.onAnswered = { context, code, _ in told.append("\(context.caller) \(context.type) \(code)") }
            let client = try lab.client()
            _ = try await client.call(Echo(text: "good"), .standard)
            _ = await failure { () throws(BusError) in try await client.call(Echo(text: "bad"), .standard) }
            #expect(told == ["gateway auth.echo ok", "gateway auth.echo not_found"])
        }
    }

    @Test func withAnOversizedHeaderIsRefusedByTheClient() async throws {
        try await BusLab.run { lab in
            _ = try lab.server()
            let client = try lab.client()
            let error = await failure { () throws(BusError) in
                try await client.call(Echo(text: "a"), .within(.seconds(1), key: String(repeating: "k", count: 70_000)))
            }
            #expect(error?.code == "invalid_message")
        }
    }
}

/// An error whose text on the wire says nothing.
private struct WordlessFailure: BusErrorConvertible {
    var busError: BusError { BusError(.internalError, "Something went wrong on our side.", executed: .unknown) }
}
