import EventLoop
import Foundation
import VestibuleClient

/// Makes the calls of a demo, as an app makes them. It prints every step with its HTTP status and its time.
final class DemoClient {
    /// The client of the person.
    let person: Vestibule
    private(set) var steps = 0
    private let wire: DemoWire
    private let server: HTTPClient
    private let uploads: HTTPClient
    private let afterStep: (Int) throws -> Void

    /// - Parameters:
    ///   - uploads: the server for pictures whose address is only a path; `nil` means the server of the API.
    ///   - afterStep: called after each successful step with its number.
    init(client: HTTPClient, uploads: HTTPClient? = nil, afterStep: @escaping (Int) throws -> Void = { _ in }) throws {
        (server, self.uploads, self.afterStep) = (client, uploads ?? client, afterStep)
        wire = DemoWire(client)
        person = try Self.device(of: client, wire)
    }

    /// The client on another device.
    func otherDevice() throws -> Vestibule { try Self.device(of: server, wire) }

    /// A client without a session.
    func visitor(with token: String) throws -> APIClient {
        APIClient(try Self.address(of: server), accessToken: token, transport: wire)
    }

    private static func device(of server: HTTPClient, _ wire: DemoWire) throws -> Vestibule {
        // A service that does not answer comes back within half a minute.
        let patience = RetryPolicy(attempts: 60, limit: 30)
        return Vestibule(try address(of: server), store: MemoryStore(), transport: wire, retries: patience)
    }

    private static func address(of server: HTTPClient) throws -> URL {
        guard let url = URL(string: "http://\(server.host):\(server.port)") else {
            throw CommandError("\(server.host):\(server.port) is no address")
        }
        return url
    }

    /// Makes a call whose answer must have the expected status.
    @discardableResult
    func step<Reply>(_ what: String, expect: Int = 200, _ call: () async throws -> Reply) async throws -> Reply {
        let began = Date()
        do {
            let reply = try await call()
            try report(what, since: began, wire.last, expect: expect)
            return reply
        } catch VestibuleError.problem(let problem) {
            try report(what, since: began, wire.last, expect: expect, detail: problem.detail)
            throw VestibuleError.problem(problem)
        }
    }

    /// Makes a call that the server must refuse.
    @discardableResult
    func refusal(
        _ what: String, expect: Int, _ code: ProblemCode, _ call: () async throws -> Void
    ) async throws -> Problem {
        let began = Date()
        do {
            try await call()
        } catch VestibuleError.problem(let problem) {
            try report(what, since: began, wire.last, expect: expect, detail: problem.detail)
            try check(problem.code == code, "the code is \(code.rawValue)")
            return problem
        }
        throw CommandError("\(wire.last.request) was not refused: \(what)")
    }

    /// Sends a picture to the address that the server gave for it.
    func upload(_ picture: [UInt8], _ contentType: String, to url: String) async throws {
        let ((server, path), began) = (try place(of: url), Date())
        let answer = try await Loop.offload {
            try server.send("PUT", path, bytes: picture, contentType: contentType)
        }
        try report(
            "the picture is sent", since: began, DemoWire.Exchange(request: "PUT", status: answer.status), expect: 204)
    }

    /// Whether the server shows a picture at its address.
    func shows(_ url: String) async throws -> Bool {
        let (server, path) = try place(of: url)
        return try await Loop.offload { try server.send("GET", path).status } == 200
    }

    /// The server of a picture's address, and the path there.
    private func place(of url: String) throws -> (HTTPClient, String) {
        let parts = try Regex("(?:http://([^/]+))?(/.+)", as: (Substring, Substring?, Substring).self).wholeMatch(
            in: url)
        guard let (_, host, path) = parts?.output else { throw CommandError("\(url) is no address of a picture") }
        return (try host.map { try HTTPClient(String($0)) } ?? uploads, String(path))
    }

    private func report(
        _ what: String, since began: Date, _ exchange: DemoWire.Exchange, expect: Int, detail: String = ""
    ) throws {
        let milliseconds = Date().timeIntervalSince(began) * 1000
        steps += 1
        let label = what.padding(toLength: 40, withPad: " ", startingAt: 0)
        say(String(format: "%3d  ", steps) + label + String(format: " %d  %7.1f ms", exchange.status, milliseconds))
        guard exchange.status == expect else {
            throw CommandError("\(exchange.request) answered \(exchange.status), expected \(expect): \(detail)")
        }
        try afterStep(steps)
    }

    /// Asks until the answer fits, or some seconds are over. The services learn of each other's work by events. Events
    /// are late if a process ended meanwhile.
    ///
    /// - Returns: the last answer.
    func wait<Reply>(
        seconds: TimeInterval, until fits: (Reply) -> Bool, _ call: () async throws -> Reply
    ) async throws -> Reply {
        let end = Date().addingTimeInterval(seconds)
        while true {
            let reply = try await call()
            guard !fits(reply), Date() < end else { return reply }
            // The pause keeps the demo below the rate limit of a person.
            try await Loop.sleep(for: .milliseconds(100))
        }
    }

    func check(_ holds: Bool, _ what: String) throws {
        guard holds else { throw CommandError("the contract does not hold: \(what)") }
    }
}
