import EventLoop
import Foundation
import FoundationNetworking
import Synchronization

/// The response of a provider.
package struct ProviderAnswer: Sendable {
    /// The status of HTTP.
    package let status: Int
    /// At most as large as the caller allows.
    package let body: [UInt8]
    /// How long the provider asks to wait; `nil` if it does not ask.
    package var retryAfter: Duration?
}

/// Why there is no usable response of a provider. It contains no part of the request.
package struct ProviderFailure: Error, Equatable {
    /// Such as `http_503`, `no_answer`, `connection_refused` or `host_not_found`; else the system's text.
    package let reason: String
    /// Whether the connection was refused. The next request would fail too.
    package var isRefused: Bool { self == .connectionRefused }

    /// - Parameter reason: contains no part of the request, since logs contain the reason.
    package init(_ reason: String) { self.reason = reason }

    /// No complete response came within the limit.
    package static let noAnswer = ProviderFailure("no_answer")
    /// No process listens at the address.
    package static let connectionRefused = ProviderFailure("connection_refused")

    /// - Parameter error: `nil` if the response was too large.
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
        // The text of libcurl, for example about a certificate.
        default: reason = String(error.localizedDescription.prefix(160))
        }
    }
}

/// Sends HTTP requests to providers.
///
/// It uses `URLSession`, which is part of the toolchain and has TLS with the system's certificate authorities. A
/// session works on its own threads. These are its known problems, each with the measure against it:
/// - A kept connection that the other side closed fails the next request. So each request has its own session, and no
///   connection is used twice.
/// - Its timeouts start again with each byte. So a timer of the loop ends the wait.
/// - It follows redirects, with the body and the code in it. So this client refuses redirects, and returns the redirect
///   itself.
/// - It keeps cookies, caches and credentials. So its configuration is ephemeral and has none of them.
/// - It collects a response of any size. So this client cuts off a response beyond the limit. It counts as failed.
/// - Its libcurl uses the proxy of the environment (`https_proxy`). This client allows that, since some networks have
///   no other way out. An https proxy sees only the host's name.
package enum ProviderClient {
    /// The size of a response, unless the caller allows another one.
    package static let largestAnswerBytes = 65_536

    /// Sends one request.
    ///
    /// - Parameters:
    ///   - limit: the most time of the whole exchange.
    ///   - most: the largest response, in bytes.
    /// - Returns: the complete response, or why there was none within the limits.
    @Loop package static func ask(
        _ request: URLRequest, within limit: Duration, atMost most: Int = largestAnswerBytes
    ) async -> Result<ProviderAnswer, ProviderFailure> {
        let promise = LoopPromise<Answer>()
        let collector = AnswerCollector(most) { answer in
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
        // A session keeps its delegate until it is invalidated.
        session.invalidateAndCancel()
        return answer ?? .failure(.noAnswer)
    }

    fileprivate typealias Answer = Result<ProviderAnswer, ProviderFailure>

    @Loop private static func resolve(_ promise: LoopPromise<Answer>, _ answer: Answer) {
        promise.resolve(.success(answer))
    }
}

/// Collects one response on the session's thread.
private final class AnswerCollector: NSObject, URLSessionDataDelegate {
    private let body = Mutex<[UInt8]>([])
    private let most: Int
    private let finish: @Sendable (ProviderClient.Answer) -> Void

    init(_ most: Int, finish: @escaping @Sendable (ProviderClient.Answer) -> Void) {
        (self.most, self.finish) = (most, finish)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = body.withLock { body in
            body += data
            return body.count > most
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let body = body.withLock { $0 }
        // The collector cancels the task of a response that is too large. The response may have been complete by then.
        guard body.count <= most else { return finish(.failure(ProviderFailure(nil))) }
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
        // The redirect is the result. Later callbacks of the session do not count.
        finish(.success(ProviderAnswer(status: response.statusCode, body: [])))
    }
}
