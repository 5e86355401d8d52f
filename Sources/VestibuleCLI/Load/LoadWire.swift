import EventLoop
import Foundation
import JSONText
import VestibuleClient

/// Carries the calls of one person over one connection, and notes each.
@Loop final class LoadWire: Transport {
    /// How long a call may take.
    nonisolated static let patience = Duration.seconds(10)

    private let connection: LoadConnection
    private let book: LoadBook?
    /// The intended start of the first call; `nil` after that call.
    private var intended: UInt64?

    /// - Parameters:
    ///   - book: gets a note of each call; `nil` for calls that are no part of the load.
    ///   - intended: the intended start of the first call.
    init(_ connection: LoadConnection, _ book: LoadBook?, since intended: UInt64? = nil) {
        (self.connection, self.book, self.intended) = (connection, book, intended)
    }

    func answer(to request: TransportRequest) async throws -> TransportAnswer {
        let began = intended ?? MonotonicClock.now()
        intended = nil
        let answer = try await Self.noted(LoadCall.name(request.method, request.url.path), book, since: began) {
            () async throws(LoadFailure) in
            try await connection.answer(to: LoadCall.bytes(of: request), within: Self.patience)
        }
        return TransportAnswer(status: answer.status, headers: answer.headers, body: Data(answer.bytes))
    }

    /// Sends a picture to the address that the server gave for it, over a connection of its own.
    func upload(_ picture: [UInt8], to address: String) async throws {
        guard let url = URL(string: address), let host = url.host, let port = url.port,
            let target = HTTPClient.addresses(host, UInt16(port)).first
        else { throw LoadFailure.refused }
        let request = TransportRequest(
            method: "PUT", url: url, headers: ["Content-Type": "image/jpeg"], body: Data(picture))
        let answer = try await Self.noted("PUT picture", book, since: MonotonicClock.now()) {
            () async throws(LoadFailure) in
            let connection = try LoadConnection(to: target, from: LoadPool.source(of: 0))
            defer { connection.close() }
            return try await connection.answer(to: LoadCall.bytes(of: request), within: Self.patience)
        }
        if let code = LoadCall.code(of: answer) { throw LoadRefusal(code: code) }
    }

    /// Makes a call and notes it.
    static func noted(
        _ call: String, _ book: LoadBook?, since began: UInt64,
        _ body: @Loop () async throws(LoadFailure) -> HTTPAnswer
    ) async throws(LoadFailure) -> HTTPAnswer {
        do {
            let answer = try await body()
            book?.ended(call, since: began, error: LoadCall.code(of: answer))
            return answer
        } catch {
            book?.ended(call, since: began, error: error.rawValue)
            throw error
        }
    }
}

/// The error after which a person of a load cannot continue.
struct LoadRefusal: Error {
    /// The code that a report shows.
    let code: String
}

/// Writes, names and judges the calls of a load.
enum LoadCall {
    /// The bytes of a request for a connection that stays open.
    static func bytes(of request: TransportRequest) -> [UInt8] {
        let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        let target = (parts?.percentEncodedPath ?? "/") + (parts?.percentEncodedQuery.map { "?\($0)" } ?? "")
        return bytes(request.method, target, headers: request.headers, body: request.body.map { [UInt8]($0) })
    }

    /// The bytes of a request from a method, a path with its query, and a body.
    static func bytes(_ method: String, _ target: String, headers: [String: String], body: [UInt8]? = nil) -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if method != "GET" { head += "Content-Length: \(body?.count ?? 0)\r\n" }
        return Array("\(head)\r\n".utf8) + (body ?? [])
    }

    /// The name under which a report adds up calls. It is the method and the path, with `{id}` in place of each ID and
    /// of the key of a question.
    static func name(_ method: String, _ path: String) -> String {
        var segments = path.split(separator: "/").map(String.init)
        for index in segments.indices where index > 0 {
            if UUID(uuidString: segments[index]) != nil || segments[index - 1] == "answers" { segments[index] = "{id}" }
        }
        return "\(method) /\(segments.joined(separator: "/"))"
    }

    /// The code of a problem; `nil` if the answer is no problem.
    static func code(of answer: HTTPAnswer) -> String? {
        guard !(200...299).contains(answer.status) else { return nil }
        return answer.body["code"]?.stringValue ?? "http_\(answer.status)"
    }

    /// The code of the error that ended a person's action.
    static func code(of error: any Error) -> String {
        switch error {
        case VestibuleError.problem(let problem): problem.code.rawValue
        case VestibuleError.noAnswer(let failure as LoadFailure): failure.rawValue
        case VestibuleError.unreadable: LoadFailure.unreadable.rawValue
        case let failure as LoadFailure: failure.rawValue
        case let refusal as LoadRefusal: refusal.code
        case is SpoolTail.Late: "no_code_in_time"
        default: "unexpected"
        }
    }
}
