import EventLoop
import HTTPServer

/// Serves what one process tells of itself, for Prometheus: `GET /metrics` on a port of its own, and nothing else. It asks
/// neither the bus nor the database, so that it answers where they do not.
@Loop public final class MetricsListener {
    private let server: HTTPServer

    /// - Parameter page: looks at this moment; what it gives back writes the text, off the loop, which some hundred kilobytes
    ///   would hold for milliseconds.
    /// - Returns: `nil` where `METRICS_HTTP` has no value.
    /// - Throws: ``ConfigurationError`` where its value is no address.
    public init?(
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
        guard head.path == "/metrics" else { return text(404, "Only /metrics is here.\n") }
        guard head.method == "GET" || head.method == "HEAD" else {
            var refusal = text(405, "Only GET and HEAD are answered.\n")
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

    /// Listens from now on.
    ///
    /// - Throws: ``ConfigurationError`` where the address cannot be listened at.
    public func start() throws(ConfigurationError) {
        do throws(HTTPServerError) {
            try server.start()
        } catch {
            throw ConfigurationError("METRICS_HTTP: \(error)")
        }
    }

    /// The port that is listened at.
    public var port: Int { server.boundPort }

    /// Ends within a second, whatever is asked.
    public func stop() async { await server.drain(within: .seconds(1)) }
}
