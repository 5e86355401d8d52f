import EventLoop
import Foundation
import FoundationNetworking
import Synchronization

/// What a provider answered.
struct ProviderAnswer: Sendable {
    var status: Int
    var body: [UInt8]
    /// When it wants to be asked again, where it said so.
    var retryAfter: Duration?
}

/// Why a provider gave no answer that can be used. Nothing that was sent to it is in it.
struct ProviderFailure: Error, Equatable {
    /// `http_503`, `no_answer`, `connection_refused`, `host_not_found`; else what the system said.
    let reason: String
    /// Nobody listens there: the next one would fare no better.
    var isRefused: Bool { self == .connectionRefused }

    init(_ reason: String) { self.reason = reason }

    static let noAnswer = ProviderFailure("no_answer")
    static let connectionRefused = ProviderFailure("connection_refused")

    /// - Parameter error: `nil` where the answer itself was more than is taken.
    fileprivate init(_ error: (any Error)?) {
        guard let error else {
            reason = "answer_too_large"
            return
        }
        switch (error as? URLError)?.code {
        case .cannotConnectToHost?: self = .connectionRefused
        case .cannotFindHost?: reason = "host_not_found"
        case .timedOut?: self = .noAnswer
        case .networkConnectionLost?: reason = "connection_lost"
        case .badServerResponse?: reason = "answer_unreadable"
        // libcurl's own words, of a certificate say.
        default: reason = String(error.localizedDescription.prefix(160))
        }
    }
}

/// Asks providers over HTTP.
///
/// `URLSession`, because it brings TLS with the system's authorities and no other library: FoundationNetworking belongs to
/// the toolchain. It works on threads of its own. What is known to go wrong with it, and what is done:
/// - a kept connection that the other side had closed fails the next request: each request has a session of its own, so
///   no connection is used twice;
/// - its time-outs begin anew with each byte: the loop's timer ends the wait, whatever the session does then;
/// - it follows redirects, with the body and its code: they are refused, and the answer is the redirect itself;
/// - it keeps cookies, caches and credentials: an ephemeral configuration without any;
/// - an answer of any size is collected: one beyond the bound is cut off and counts as failed;
/// - its libcurl uses the proxy of the environment (`https_proxy`): left so, since some networks have no other way out,
///   and a proxy of https sees the host's name only.
enum ProviderClient {
    static let largestAnswerBytes = 65_536

    /// - Returns: the whole answer, or why none came within the limit.
    @Loop static func ask(
        _ request: URLRequest, within limit: Duration
    ) async -> Result<ProviderAnswer, ProviderFailure> {
        let promise = LoopPromise<Answer>()
        let collector = AnswerCollector { answer in
            Loop.spawn { await resolve(promise, answer) }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        let session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
        let timer = LoopTimer(after: limit) { promise.resolve(.success(.failure(.noAnswer))) }
        session.dataTask(with: request).resume()
        let answer = try? await promise.get()
        timer.cancel()
        // The session holds its delegate until it is told that this is the end.
        session.invalidateAndCancel()
        return answer ?? .failure(.noAnswer)
    }

    fileprivate typealias Answer = Result<ProviderAnswer, ProviderFailure>

    @Loop private static func resolve(_ promise: LoopPromise<Answer>, _ answer: Answer) {
        promise.resolve(.success(answer))
    }
}

/// Takes one answer in, on the session's thread.
private final class AnswerCollector: NSObject, URLSessionDataDelegate {
    private let body = Mutex<[UInt8]>([])
    private let finish: @Sendable (ProviderClient.Answer) -> Void

    init(finish: @escaping @Sendable (ProviderClient.Answer) -> Void) { self.finish = finish }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = body.withLock { body in
            body += data
            return body.count > ProviderClient.largestAnswerBytes
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let body = body.withLock { $0 }
        // A cancelled task may have been complete already.
        guard body.count <= ProviderClient.largestAnswerBytes else { return finish(.failure(ProviderFailure(nil))) }
        guard error == nil, let answer = task.response as? HTTPURLResponse else {
            return finish(.failure(ProviderFailure(error ?? URLError(.badServerResponse))))
        }
        let retryAfter = answer.value(forHTTPHeaderField: "Retry-After")
        finish(
            .success(
                ProviderAnswer(
                    status: answer.statusCode, body: body,
                    retryAfter: retryAfter.flatMap { RetryAfter.duration($0, now: Date()) })))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
        // The redirect itself is the answer, whatever the session says after it.
        finish(.success(ProviderAnswer(status: response.statusCode, body: [])))
    }
}
