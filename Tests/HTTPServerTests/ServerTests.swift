import EventLoop
import Foundation
import TestSupport
import Testing

@testable import HTTPServer

/// A server that answers with what it was asked, and `/slow` only when the test lets it.
@Loop private final class Echo {
    let gate = LoopPromise<Void>()
    let entered = LoopPromise<Void>()
    private(set) var server: HTTPServer
    private static let large = [UInt8](repeating: 97, count: 8 << 20)

    init(_ limits: HTTPLimits = HTTPLimits(), shares: @escaping @Loop (String) -> [ConnectionShare] = { _ in [] })
        throws
    {
        let (gate, entered) = (gate, entered)
        server = HTTPServer(
            host: "127.0.0.1", port: 0, limits: limits,
            delegate: HTTPServer.Delegate(
                shares: shares,
                admission: { head, _ in
                    if head.path.hasPrefix("/upload") {
                        return .upload(Upload(head.path, gate, entered), limit: 1 << 20)
                    }
                    guard head.path.hasPrefix("/checked") else { return .read(limit: 65_536) }
                    return .check(
                        {
                            await Task.yield()
                            return head.path == "/checked" ? nil : HTTPResponse(status: 401)
                        }, limit: 10)
                }
            ) { request in
                if request.head.path == "/slow" {
                    entered.resolve(.success(()))
                    try? await gate.get()
                }
                if request.head.path == "/pieces" { return HTTPResponse(status: 200, body: [65], rest: pieces(3, "b")) }
                if request.head.path == "/broken" { return HTTPResponse(status: 200, rest: pieces(2, nil)) }
                if request.head.path == "/long" {
                    return HTTPResponse(status: 200, rest: pieces(16, "z", size: 65_536))
                }
                if request.head.path == "/large" {
                    return HTTPResponse(status: 200, body: Self.large)
                }
                let text =
                    "\(request.head.method) \(request.head.path) \(String(decoding: request.body, as: UTF8.self))."
                return HTTPResponse(status: 200, headers: ["X-Bad": "a\r\nInjected: b"], body: Array(text.utf8))
            })
        try server.start()
    }

    func client(from source: String = "127.0.0.1") throws -> RawClient {
        try RawClient(port: server.boundPort, from: source, of: self)
    }
}

/// It says how long the parts were, and how many bytes of `x` they had. At some paths it refuses them, or waits.
@Loop private final class Upload: HTTPUpload {
    private let path: String
    private let (gate, entered): (LoopPromise<Void>, LoopPromise<Void>)
    private var lengths: [Int] = []
    private var count = 0

    init(_ path: String, _ gate: LoopPromise<Void>, _ entered: LoopPromise<Void>) {
        (self.path, self.gate, self.entered) = (path, gate, entered)
    }

    func begin() async -> HTTPResponse? {
        await Task.yield()
        return path == "/upload/never" ? HTTPResponse(status: 401) : nil
    }

    func take(_ part: [UInt8]) async -> HTTPResponse? {
        lengths.append(part.count)
        count += part.count { $0 == 120 }
        if path == "/upload/slow" {
            entered.resolve(.success(()))
            try? await gate.get()
        }
        return path == "/upload/part" ? HTTPResponse(status: 409) : nil
    }

    func finish(_ end: [UInt8]) async -> HTTPResponse {
        _ = await take(end)
        return HTTPResponse(status: 200, body: Array("\(lengths) \(count).".utf8))
    }
}

private func put(_ path: String, _ count: Int, _ rest: String = "") -> [UInt8] {
    Array("PUT \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\(rest)\r\n".utf8)
}

/// So many pieces, then the last one or a failure.
@Loop private func pieces(_ count: Int, _ last: String?, size: Int = 1) -> HTTPBodyRest {
    let source = PieceSource(count: count, last: last, size: size)
    return HTTPBodyRest { try await source.next() }
}

@Loop private final class PieceSource {
    struct Failure: Error {}
    private var left: Int
    private let last: String?
    private let size: Int

    init(count: Int, last: String?, size: Int) { (left, self.last, self.size) = (count, last, size) }

    func next() async throws -> [UInt8]? {
        await Task.yield()
        left -= 1
        if left > 0 { return [UInt8](repeating: 120, count: size) }
        if left < 0 { return nil }
        guard let last else { throw Failure() }
        return Array(last.utf8)
    }
}

private func get(_ path: String, _ rest: String = "") -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\(rest)\r\n" }
private let closing = "Connection: close\r\n"

@Suite("HTTP server") @Loop struct ServerTests {
    @Test func anUploadGetsItsBodyInParts() async throws {
        let client = try Echo().client()
        let body = [UInt8](repeating: 120, count: 150_000)
        try await client.send(put("/upload", body.count) + body + put("/upload", 1) + [120])
        #expect(try await client.read(until: "[1] 1.").contains("[65536, 65536, 18928] 150000."))
        try await client.send(put("/upload", 131_072, closing) + body.prefix(131_072))
        #expect(try await client.readToEnd().hasSuffix("[65536, 65536] 131072."))
    }

    @Test func anUploadRefusesItsBodyBeforeAndWithin() async throws {
        let echo = try Echo()
        for (path, count, status) in [("never", 10, 401), ("part", 500_000, 409), ("large", 2 << 20, 413)] {
            let client = try echo.client()
            try await client.send(put("/upload/\(path)", count) + [UInt8](repeating: 120, count: min(count, 100_000)))
            #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    @Test("a slow upload gets the whole body of a half-closed client")
    func aSlowUpload() async throws {
        let echo = try Echo()
        let client = try echo.client()
        let body = [UInt8](repeating: 120, count: 150_000)
        try await client.send(put("/upload/slow", body.count) + body)
        client.endOutput()
        try await echo.entered.get()
        echo.gate.resolve(.success(()))
        #expect(try await client.readToEnd().hasSuffix("[65536, 65536, 18928] 150000."))
    }

    @Test func theTimeOfABodyGoesOnWhileAnUploadTakesParts() async throws {
        var limits = HTTPLimits()
        limits.bodyTimeout = .milliseconds(100)
        let echo = try Echo(limits)
        let client = try echo.client()
        try await client.send(put("/upload/slow", 100_000) + [UInt8](repeating: 120, count: 70_000))
        #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 408 "))
        echo.gate.resolve(.success(()))
    }

    @Test func aStreamedAnswerIsChunkedAndKeepsTheConnection() async throws {
        let client = try Echo().client()
        try await client.send(get("/pieces"))
        let first = try await client.read(until: "\r\n0\r\n\r\n")
        #expect(first.hasSuffix("\r\n\r\n1\r\nA\r\n1\r\nx\r\n1\r\nx\r\n1\r\nb\r\n0\r\n\r\n"))
        #expect(first.contains("transfer-encoding: chunked") && !first.contains("content-length"))
        try await client.send("HEAD /pieces HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await client.read(until: "\r\n\r\n").contains("transfer-encoding: chunked"))
        try await client.send(get("/a", closing))
        #expect(try await client.readToEnd().hasSuffix("GET /a ."))
    }

    @Test func anOldClientGetsAnAnswerInPiecesWithoutChunks() async throws {
        let client = try Echo().client()
        try await client.send("GET /pieces HTTP/1.0\r\n\r\n")
        let answer = try await client.readToEnd()
        #expect(answer.hasSuffix("\r\n\r\nAxxb"))
        #expect(answer.contains("connection: close") && !answer.contains("transfer-encoding"))
    }

    @Test func aStreamedAnswerThatFailsIsCutOff() async throws {
        let client = try Echo().client()
        try await client.send(get("/broken"))
        let answer = try await client.readToEnd()
        #expect(answer.hasSuffix("1\r\nx\r\n"), "and no end")
    }

    @Test func aLongAnswerInPiecesArrivesWhole() async throws {
        let client = try Echo().client()
        try await client.send(get("/long", closing))
        let answer = try await client.readToEnd()
        #expect(answer.utf8.count { $0 == 120 } == 15 * 65_536 && answer.hasSuffix("1\r\nz\r\n0\r\n\r\n"))
    }

    @Test func answersAndKeepsTheConnection() async throws {
        let client = try Echo().client()
        try await client.send(get("/a"))
        let first = try await client.read(until: "GET /a .")
        #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(first.contains("content-length: 8\r\n") && !first.lowercased().contains("connection:"))
        #expect(!first.contains("\r\nInjected"), "a header's value stays in its header")
        try await client.send(get("/b", closing))
        let second = try await client.readToEnd()
        #expect(second.contains("connection: close\r\n") && second.hasSuffix("GET /b ."))
    }

    @Test func answersPipelinedRequestsInOrder() async throws {
        let echo = try Echo()
        let client = try echo.client()
        let paths = ["/slow"] + (0..<50).map { "/\($0)" }
        try await client.send(paths.map { get($0) }.joined() + get("/end", closing))
        try await echo.entered.get()
        echo.gate.resolve(.success(()))
        let text = try await client.readToEnd()
        let answered = text.split(separator: "\r\n\r\n").compactMap { $0.split(separator: " ").dropFirst().first }
        #expect(answered.filter { $0.hasPrefix("/") }.map(String.init) == paths + ["/end"])
    }

    @Test func headHasLengthAndNoBody() async throws {
        let client = try Echo().client()
        try await client.send("HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let text = try await client.readToEnd()
        #expect(text.contains("content-length: 9\r\n") && text.hasSuffix("\r\n\r\n"))
    }

    @Test func invitesABodyOnce() async throws {
        let client = try Echo().client()
        try await client.send(
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-Continue\r\nConnection: close\r\n\r\n")
        #expect(try await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try await client.send("ok")
        #expect(try await client.readToEnd().hasSuffix("POST /a ok."))
    }

    @Test("a body that is too large is refused instead of invited")
    func refusesBeforeInviting() async throws {
        let client = try Echo().client()
        try await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 70000\r\nExpect: 100-continue\r\n\r\n")
        #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }

    @Test func refusedMessagesAreAnsweredAndEndTheConnection() async throws {
        let echo = try Echo()
        for (text, status) in refusedMessages {
            let client = try echo.client()
            try await client.send(text + get("/smuggled"))
            let answer = try await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && !answer.contains("GET /smuggled"), "\(text)")
        }
    }

    @Test func answersAClientThatClosedItsHalf() async throws {
        let echo = try Echo()
        let client = try echo.client()
        try await client.send(get("/slow") + get("/next"))
        try await echo.entered.get()
        client.endOutput()
        echo.gate.resolve(.success(()))
        let text = try await client.readToEnd()
        #expect(text.contains("GET /slow .") && text.hasSuffix("GET /next ."))
    }

    @Test func oldClientsAreClosed() async throws {
        let client = try Echo().client()
        try await client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(try await client.readToEnd().contains("connection: close"))
    }

    @Test("a large answer arrives whole and delays no other client")
    func largeAnswer() async throws {
        let echo = try Echo()
        let slow = try RawClient(port: echo.server.boundPort, receiveBuffer: 4096, of: echo)
        try await slow.send(get("/large", closing))
        let other = try echo.client()
        try await other.send(get("/a", closing))
        #expect(try await other.readToEnd().hasSuffix("GET /a ."))
        let text = try await slow.readToEnd()
        #expect(text.utf8.suffix(8 << 20).allSatisfy { $0 == 97 } && text.utf8.count > 8 << 20)
    }

    @Test("a client that goes away before its answer costs nothing")
    func resetIsSurvived() async throws {
        let echo = try Echo()
        do {
            let client = try echo.client()
            try await client.send(get("/large"))
        }
        let client = try echo.client()
        try await client.send(get("/a", closing))
        #expect(try await client.readToEnd().hasSuffix("GET /a ."))
    }
}

@Suite("HTTP server: time and number") @Loop struct ServerLimitTests {
    @Test(
        "slow clients get 408",
        arguments: ["GET / HT", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab"])
    func slowRequests(text: String) async throws {
        var limits = HTTPLimits()
        (limits.headTimeout, limits.bodyTimeout) = (.milliseconds(30), .milliseconds(30))
        let client = try Echo(limits).client()
        try await client.send(text)
        #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 408 "))
    }

    @Test func idleConnectionsAreClosedWithoutAnAnswer() async throws {
        var limits = HTTPLimits()
        limits.idleTimeout = .milliseconds(30)
        let client = try Echo(limits).client()
        #expect(try await client.readToEnd().isEmpty)
        limits.idleTimeout = .milliseconds(500)
        let used = try Echo(limits).client()
        try await used.send(get("/a"))
        #expect(try await used.readToEnd().hasSuffix("GET /a ."))
    }

    @Test("a client that reads nothing of its answer is disconnected")
    func stuckReaders() async throws {
        var limits = HTTPLimits()
        limits.writeTimeout = .milliseconds(50)
        let echo = try Echo(limits)
        let client = try RawClient(port: echo.server.boundPort, receiveBuffer: 4096, of: echo)
        try await client.send(get("/large"))
        _ = try await client.read(until: "HTTP/1.1 200 ")
        while echo.server.connectionCount > 0 { try await Loop.sleep(for: .milliseconds(5)) }
    }

    @Test("a new connection replaces the one that waits longest")
    func connectionsAreBounded() async throws {
        var limits = HTTPLimits()
        limits.connections = 2
        let echo = try Echo(limits)
        let half = try echo.client()
        try await half.send("GET / HT")
        let used = try echo.client()
        try await used.send(get("/a"))
        _ = try await used.read(until: "GET /a .")
        let third = try echo.client()
        try await third.send(get("/b"))
        _ = try await third.read(until: "GET /b .")
        #expect(echo.server.connectionCount == 2)
        #expect(try await half.readToEnd().isEmpty)
        try await used.send(get("/c"))
        #expect(try await used.read(until: "GET /c .").hasSuffix("GET /c ."))
    }

    @Test func aConnectionThatAwaitsItsAnswerIsNotReplaced() async throws {
        var limits = HTTPLimits()
        limits.connections = 1
        let echo = try Echo(limits)
        let busy = try echo.client()
        try await busy.send(get("/slow"))
        try await echo.entered.get()
        let next = try echo.client()
        try await next.send(get("/b", closing))
        echo.gate.resolve(.success(()))
        #expect(try await busy.read(until: "GET /slow .").hasSuffix("GET /slow ."))
        #expect(try await next.readToEnd().hasSuffix("GET /b ."))
        #expect(echo.server.connectionCount <= 1)
    }

    @Test("an address over its share replaces its own connections")
    func sharesOfAddresses() async throws {
        let echo = try Echo(shares: { $0 == "127.0.0.3" ? [] : [ConnectionShare(key: Array($0.utf8), most: 2)] })
        var clients: [RawClient] = []
        for source in ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3", "127.0.0.3"] {
            let client = try echo.client(from: source)
            try await client.send(get("/a"))
            _ = try await client.read(until: "GET /a .")
            clients.append(client)
        }
        #expect(echo.server.connectionCount == 6)
        #expect(try await clients[1].readToEnd().isEmpty)
        for (number, client) in clients.enumerated() where number != 1 {
            try await client.send(get("/b", closing))
            #expect(try await client.readToEnd().hasSuffix("GET /b ."))
        }
    }

    @Test("a body is read only after its head passed the check")
    func checkedBodies() async throws {
        let echo = try Echo()
        for size in [1, 500_000] {
            let client = try echo.client()
            try await client.send("POST /checked/not HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\n\r\n")
            #expect(try await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 401 "), "no byte of the body was sent")
        }
        let client = try echo.client()
        try await client.send("POST /checked HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab")
        try await client.send("cd" + get("/a", closing))
        let text = try await client.readToEnd()
        #expect(text.contains("POST /checked abcd.") && text.hasSuffix("GET /a ."))
        let larger = try echo.client()
        try await larger.send("POST /checked HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n")
        #expect(try await larger.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }

    @Test("clients that read a large answer slowly share its bytes")
    func slowReadersShareOneCopy() async throws {
        let echo = try Echo()
        let before = try Self.residentBytes()
        var clients: [RawClient] = []
        for _ in 0..<32 {
            let client = try RawClient(port: echo.server.boundPort, receiveBuffer: 4096, of: echo)
            try await client.send(get("/large"))
            _ = try await client.read(until: "HTTP/1.1 200 ")
            clients.append(client)
        }
        // A copy for each would be 256 MiB.
        #expect(try Self.residentBytes() - before < 64 << 20)
        withExtendedLifetime(clients) {}
    }

    private static func residentBytes() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return try #require(Int(pages)) * 4096
    }

    @Test func serversThatShareAPortAllGetConnections() async throws {
        func server(_ answer: String, port: Int) throws -> HTTPServer {
            let server = HTTPServer(
                host: "127.0.0.1", port: port, sharesPort: true,
                delegate: HTTPServer.Delegate { _ in HTTPResponse(status: 200, body: Array(answer.utf8)) })
            try server.start()
            return server
        }
        let first = try server("first.", port: 0)
        let second = try server("second.", port: first.boundPort)
        func answers() async throws -> Set<Bool> {
            var answers: Set<Bool> = []
            // The kernel picks a listener by the connection's addresses: one of 2^63 times all get the same one.
            for _ in 0..<64 {
                let client = try RawClient(port: first.boundPort, from: "127.0.0.1", of: first)
                try await client.send(get("/"))
                answers.insert(try await client.read(until: ".").hasSuffix("first."))
            }
            return answers
        }
        #expect(try await answers() == [true, false])
        await second.drain()
        #expect(try await answers() == [true])
    }

    @Test func aPortInUseHasAName() async throws {
        let echo = try Echo()
        let port = echo.server.boundPort
        let second = HTTPServer(
            host: "127.0.0.1", port: port, delegate: HTTPServer.Delegate { _ in HTTPResponse(status: 200) })
        #expect(throws: HTTPServerError.portInUse(host: "127.0.0.1", port: port)) { try second.start() }
        let named = HTTPServer(
            host: "example.org", port: 1, delegate: HTTPServer.Delegate { _ in HTTPResponse(status: 200) })
        #expect(throws: HTTPServerError.invalidAddress(host: "example.org", port: 1)) { try named.start() }
    }
}

@Suite("HTTP server: drain") @Loop struct DrainTests {
    @Test func drainFinishesRequestsInFlight() async throws {
        let echo = try Echo()
        let (busy, idle) = (try echo.client(), try echo.client())
        try await idle.send(get("/a"))
        _ = try await idle.read(until: "GET /a .")
        try await busy.send(get("/slow") + get("/never"))
        try await echo.entered.get()
        let port = echo.server.boundPort
        let drained = Loop.spawn { await echo.server.drain() }
        #expect(try await idle.readToEnd().isEmpty)
        #expect(throws: (any Error).self) { try RawClient(port: port) }
        echo.gate.resolve(.success(()))
        let text = try await busy.readToEnd()
        #expect(text.contains("connection: close\r\n") && text.hasSuffix("GET /slow ."))
        try await drained.value
    }

    @Test func drainAnswersQueuedClientsAndClosesSilentOnes() async throws {
        let echo = try Echo()
        // Through the door of the kernel: the server has not looked at them yet.
        let (quick, late, silent) = (try echo.client(), try echo.client(), try echo.client())
        try await quick.send(get("/quick"))
        let drained = Loop.spawn { await echo.server.drain() }
        #expect(try await quick.readToEnd().hasSuffix("GET /quick ."))
        try await late.send(get("/late"))
        let text = try await late.readToEnd()
        #expect(text.contains("connection: close\r\n") && text.hasSuffix("GET /late ."))
        #expect(try await silent.readToEnd().isEmpty)
        try await drained.value
    }

    @Test func drainCutsOffRequestsThatDoNotEnd() async throws {
        let echo = try Echo()
        let client = try echo.client()
        try await client.send(get("/slow"))
        try await echo.entered.get()
        await echo.server.drain(within: .milliseconds(20))
        #expect(try await client.readToEnd().isEmpty)
        echo.gate.resolve(.success(()))
    }
}
