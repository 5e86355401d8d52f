import BusProtocol
import EventLoop
import Foundation
import FoundationNetworking
import JSONText
import ProviderHTTP

/// Access tokens for Google's services. An exchange (RFC 7523) gets one, which is used until a minute before it
/// expires.
@Loop final class GoogleAccess {
    private let account: ServiceAccount
    private let exchange: URL
    private var token: (text: String, usableUntil: UInt64)?
    /// The exchange in progress. All callers wait for the same one.
    private var pending: LoopPromise<Result<String, PushError>>?

    private static let margin: Int64 = 60
    /// In seconds. A longer life is cut to this.
    private static let longestLife: Int64 = 86_400

    nonisolated init(account: ServiceAccount, exchange: URL) { (self.account, self.exchange) = (account, exchange) }

    /// - Throws: ``PushError`` if the exchange fails. The next call tries again.
    func accessToken(within limit: Duration) async throws(PushError) -> String {
        if let token, MonotonicClock.now() < token.usableUntil { return token.text }
        let promise = pending ?? begin(within: limit)
        guard let result = try? await promise.get() else { throw .notTaken(.failure(.noAnswer)) }
        return try result.get()
    }

    /// Drops a token that Google refused. The next call makes a new exchange.
    func forget(_ text: String) {
        if token?.text == text { token = nil }
    }

    private func begin(within limit: Duration) -> LoopPromise<Result<String, PushError>> {
        let promise = LoopPromise<Result<String, PushError>>()
        pending = promise
        Loop.spawn { [self] in await finish(promise, within: limit) }
        return promise
    }

    private func finish(_ promise: LoopPromise<Result<String, PushError>>, within limit: Duration) async {
        let result: Result<String, PushError>
        do throws(PushError) {
            result = .success(try await exchanged(within: limit))
        } catch {
            result = .failure(error)
        }
        pending = nil
        promise.resolve(.success(result))
    }

    private func exchanged(within limit: Duration) async throws(PushError) -> String {
        let (account, now, start) = (account, Timestamp.now(), MonotonicClock.now())
        guard let assertion = try? await Loop.compute({ account.assertion(at: now) }) else {
            throw .notTaken(.failure(.noAnswer))
        }
        let answer: ProviderAnswer
        switch await ProviderClient.ask(request(assertion), within: limit) {
        case .success(let told): answer = told
        case .failure(let failure): throw .notTaken(reason: "access_\(failure.reason)", retryAfter: nil)
        }
        guard answer.status == 200, let body = try? JSONValue.parse(answer.body),
            let text = body["access_token"]?.stringValue, case .integer(let life)? = body["expires_in"], life > 0
        else { throw .notTaken(reason: "access_http_\(answer.status)", retryAfter: answer.retryAfter) }
        let usable = Duration.seconds(max(0, min(life, Self.longestLife) - Self.margin))
        token = (text, start + usable.nanoseconds)
        return text
    }

    private func request(_ assertion: String) -> URLRequest {
        var request = URLRequest(url: exchange)
        request.httpMethod = "POST"
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        request.httpBody = Data(form.utf8)
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        return request
    }
}
