import EventLoop
import HTTPServer

/// A small local server in place of a provider. The test sets its answers or lets it hang. It keeps the requests.
@Loop package final class ProviderServer {
    package indirect enum Manner: Sendable {
        case answers(status: Int, body: String, headers: HTTPHeaders = [:])
        /// Chooses the manner for each request.
        case chooses(@Loop @Sendable (HTTPRequest) -> Manner)
        case redirects(to: String)
        /// Reads the request and does not answer.
        case hangs
    }

    package var manner: Manner
    package private(set) var requests: [HTTPRequest] = []
    private var server: HTTPServer?
    private let end = LoopPromise<Void>()

    package init(_ manner: Manner) throws {
        self.manner = manner
        let server = HTTPServer(
            host: "127.0.0.1", port: 0,
            delegate: HTTPServer.Delegate { [weak self] in await self?.answer($0) ?? HTTPResponse(status: 500) })
        try server.start()
        self.server = server
    }

    package var url: String { "http://127.0.0.1:\(server?.boundPort ?? 0)" }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        requests.append(request)
        return await answer(request, manner)
    }

    private func answer(_ request: HTTPRequest, _ manner: Manner) async -> HTTPResponse {
        switch manner {
        case .answers(let status, let body, let headers):
            return HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
        case .chooses(let choose): return await answer(request, choose(request))
        case .redirects(let place): return HTTPResponse(status: 307, headers: ["location": place])
        case .hangs:
            try? await end.get()
            return HTTPResponse(status: 500)
        }
    }

    /// Ends hanging requests and stops listening.
    package func stop() async {
        end.resolve(.success(()))
        await server?.drain(within: .zero)
        server = nil
    }
}
