import EventLoop
import HTTPServer

/// Serves the metrics of one process for Prometheus: `GET /metrics` on its own port, and nothing else.
///
/// It uses neither the bus nor the database, so it answers when they do not.
@Loop package final class MetricsListener {
    private let server: HTTPServer

    /// Prepares the listener.
    ///
    /// - Parameter page: collects the figures and returns a function that writes the text. That function runs off the
    ///   loop, because some hundred kilobytes would block it for milliseconds.
    /// - Returns: `nil` if `METRICS_HTTP` has no value.
    /// - Throws: ``ConfigurationError`` if its value is not an address.
    package init?(
        _ configuration: Configuration, page: @escaping @Loop () -> @Sendable () -> [UInt8]
    ) throws(ConfigurationError) {
        guard configuration.optionalText("METRICS_HTTP") != nil else { return nil }
        let (host, port) = try configuration.address("METRICS_HTTP")
        server = HTTPServer(
            host: host, port: port,
            delegate: HTTPServer.Delegate(admission: { _, _ in .read(limit: 0) }) { await Self.answer($0.head, page) })
    }

    private static func answer(
        _ head: HTTPRequestHead, _ page: @Loop () -> @Sendable () -> [UInt8]
    ) async -> HTTPResponse {
        guard head.path == "/metrics" else { return text(404, "The only path is /metrics.\n") }
        guard head.method == "GET" || head.method == "HEAD" else {
            var refusal = text(405, "Only GET and HEAD are allowed.\n")
            refusal.headers.set("allow", "GET, HEAD")
            return refusal
        }
        let write = page()
        return HTTPResponse(
            status: 200, headers: ["content-type": "text/plain; version=0.0.4", "cache-control": "no-store"],
            body: (try? await Loop.compute { write() }) ?? [])
    }

    private static func text(_ status: Int, _ sentence: String) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["content-type": "text/plain; charset=utf-8"], body: Array(sentence.utf8))
    }

    /// Starts to listen.
    ///
    /// - Throws: ``ConfigurationError`` if the address cannot be used.
    package func start() throws(ConfigurationError) {
        do throws(HTTPServerError) {
            try server.start()
        } catch {
            throw ConfigurationError("METRICS_HTTP: \(error)")
        }
    }

    /// The port that it listens on.
    package var port: Int { server.boundPort }

    /// Stops within a second, even during requests.
    package func stop() async { await server.drain(within: .seconds(1)) }
}
