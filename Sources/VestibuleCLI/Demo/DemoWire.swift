import EventLoop
import Foundation
import Synchronization
import VestibuleClient

/// Carries the requests of a demo over ``HTTPClient``, and remembers the newest one.
///
/// ``HTTPClient`` can choose the address that it comes from, but Foundation's `URLSession` cannot. With addresses of
/// their own, many demos at once stay below the limits of one address.
final class DemoWire: Transport {
    /// A request and the status of its answer.
    struct Exchange: Sendable {
        var request = ""
        var status = 0
    }

    private let server: HTTPClient
    private let newest = Mutex(Exchange())

    init(_ server: HTTPClient) { self.server = server }

    /// The newest request that was answered.
    var last: Exchange { newest.withLock { $0 } }

    func answer(to request: TransportRequest) async throws -> TransportAnswer {
        guard let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false) else {
            throw URLError(.badURL)
        }
        let path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        let headers = request.headers.filter { $0.key != "Content-Type" }
        let answer = try await Loop.offload { [server] in
            try server.send(
                request.method, path, bytes: [UInt8](request.body ?? Data()),
                contentType: request.headers["Content-Type"],
                headers: headers)
        }
        newest.withLock { $0 = Exchange(request: "\(request.method) \(path)", status: answer.status) }
        return TransportAnswer(status: answer.status, headers: answer.headers, body: Data(answer.bytes))
    }
}
