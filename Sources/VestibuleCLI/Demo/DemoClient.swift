import Foundation
import JSONText

/// Sends the requests of a demo. It prints every step with its HTTP status and its time.
final class DemoClient {
    let client: HTTPClient
    private(set) var steps = 0
    private let uploads: HTTPClient
    private let afterStep: (Int) throws -> Void

    /// - Parameters:
    ///   - uploads: where pictures go whose address is a path only; `nil` sends them to the address of the API.
    ///   - afterStep: called after each successful step with its number.
    init(client: HTTPClient, uploads: HTTPClient? = nil, afterStep: @escaping (Int) throws -> Void = { _ in }) {
        (self.client, self.uploads, self.afterStep) = (client, uploads ?? client, afterStep)
    }

    @discardableResult
    func step(
        _ what: String, _ method: String, _ path: String, body: JSONValue? = nil, token: String? = nil, expect: Int
    ) throws -> JSONValue {
        var headers: [String: String] = [:]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if method == "POST" { headers["Idempotency-Key"] = "demo-\(UUID().uuidString)" }
        return try report(what, "\(method) \(path)", expect: expect) {
            try send(method, path, body: body, headers: headers)
        }
    }

    /// Sends a picture to the address that the server gave for it.
    func upload(_ picture: [UInt8], _ contentType: String, to url: String) throws {
        let (server, path) = try place(of: url)
        try report("the picture is sent", "PUT", expect: 204) {
            try server.send("PUT", path, bytes: picture, contentType: contentType)
        }
    }

    /// The server of a picture's address, and the path there.
    func place(of url: String) throws -> (HTTPClient, String) {
        let parts = try Regex("(?:http://([^/]+))?(/.+)", as: (Substring, Substring?, Substring).self).wholeMatch(
            in: url)
        guard let (_, host, path) = parts?.output else { throw CommandError("\(url) is no address of a picture") }
        return (try host.map { try HTTPClient(String($0)) } ?? uploads, String(path))
    }

    @discardableResult
    private func report(_ what: String, _ request: String, expect: Int, _ send: () throws -> HTTPAnswer) throws
        -> JSONValue
    {
        let started = Date()
        let answer = try send()
        let milliseconds = Date().timeIntervalSince(started) * 1000
        steps += 1
        let label = what.padding(toLength: 40, withPad: " ", startingAt: 0)
        say(String(format: "%3d  ", steps) + label + String(format: " %d  %7.1f ms", answer.status, milliseconds))
        guard answer.status == expect else {
            let detail = answer.body["detail"]?.stringValue ?? ""
            throw CommandError("\(request) answered \(answer.status), expected \(expect): \(detail)")
        }
        try afterStep(steps)
        return answer.body
    }

    /// Repeats a request for 30 s while a service is busy, which says when to come again. The same key keeps a POST from
    /// being done twice.
    func send(_ method: String, _ path: String, body: JSONValue?, headers: [String: String]) throws -> HTTPAnswer {
        let end = Date().addingTimeInterval(30)
        while true {
            let answer = try client.send(method, path, body: body, headers: headers)
            guard answer.status == 503, let wait = answer.body["retryAfterSeconds"]?.integerValue, Date() < end else {
                return answer
            }
            usleep(UInt32(min(max(1, wait), 30)) * UInt32.random(in: 500_000...1_000_000))
        }
    }

    func check(_ holds: Bool, _ what: String) throws {
        guard holds else { throw CommandError("the contract does not hold: \(what)") }
    }

    func text(_ value: JSONValue, _ name: String) throws -> String {
        guard let text = value[name]?.stringValue else { throw CommandError("the response has no \(name)") }
        return text
    }
}
