import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with Foundation's `URLSession`. It keeps no cookie and no answer.
public struct URLSessionTransport: Transport {
    private let session: URLSession

    /// A transport with connections of its own.
    ///
    /// - Parameter timeout: how long the server may be silent, in seconds.
    public init(timeout: TimeInterval = 30) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    public func answer(to request: TransportRequest) async throws -> TransportAnswer {
        var carried = URLRequest(url: request.url)
        carried.httpMethod = request.method
        carried.httpBody = request.body
        for (name, value) in request.headers { carried.setValue(value, forHTTPHeaderField: name) }
        let (body, response) = try await session.data(for: carried)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields { headers[name] = value }
        return TransportAnswer(status: response.statusCode, headers: headers, body: body)
    }
}
