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

    /// - Returns: `nil` where no whole answer came within the limit.
    @Loop static func ask(_ request: URLRequest, within limit: Duration) async -> ProviderAnswer? {
        let promise = LoopPromise<ProviderAnswer?>()
        let collector = AnswerCollector { answer in
            Loop.spawn { await resolve(promise, answer) }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        let session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
        let timer = LoopTimer(after: limit) { promise.resolve(.success(nil)) }
        session.dataTask(with: request).resume()
        let answer = try? await promise.get()
        timer.cancel()
        // The session holds its delegate until it is told that this is the end.
        session.invalidateAndCancel()
        return answer ?? nil
    }

    @Loop private static func resolve(_ promise: LoopPromise<ProviderAnswer?>, _ answer: ProviderAnswer?) {
        promise.resolve(.success(answer))
    }
}

/// Takes one answer in, on the session's thread.
private final class AnswerCollector: NSObject, URLSessionDataDelegate {
    private let body = Mutex<[UInt8]>([])
    private let finish: @Sendable (ProviderAnswer?) -> Void

    init(finish: @escaping @Sendable (ProviderAnswer?) -> Void) { self.finish = finish }

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
        guard error == nil, body.count <= ProviderClient.largestAnswerBytes,
            let answer = task.response as? HTTPURLResponse
        else { return finish(nil) }
        let retryAfter = answer.value(forHTTPHeaderField: "Retry-After")
        finish(
            ProviderAnswer(
                status: answer.statusCode, body: body,
                retryAfter: retryAfter.flatMap { RetryAfter.duration($0, now: Date()) }))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
        // The redirect itself is the answer, whatever the session says after it.
        finish(ProviderAnswer(status: response.statusCode, body: []))
    }
}
