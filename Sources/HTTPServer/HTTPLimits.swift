/// The limits of an ``HTTPServer``.
package struct HTTPLimits: Sendable {
    /// The most bytes of request line, headers and empty line together. Trailers of a chunked body count too.
    package var headBytes = 16_384
    /// The most header fields, including trailers.
    package var headerCount = 100
    /// The most bytes of all chunk extensions of a body together.
    package var chunkExtensionBytes = 4096
    /// The most connections at a time. A further one replaces the connection that has waited longest for its client. If
    /// none waits, the new one stays in the kernel's queue. Set it higher than the number of requests that the handler
    /// works on, so that it can still refuse requests and answer health checks.
    package var connections = 4608
    /// The time from the first byte of a request to the end of its headers.
    package var headTimeout: Duration = .seconds(10)
    /// The time from the end of the headers to the end of the body.
    package var bodyTimeout: Duration = .seconds(30)
    /// The time between two requests of a connection, and before the first.
    package var idleTimeout: Duration = .seconds(60)
    /// How long a client may pause while it takes a response.
    package var writeTimeout: Duration = .seconds(30)
    /// How long to read on after a refusal, so that no reset reaches the client before the response does.
    package var lingerTimeout: Duration = .seconds(2)

    /// Makes the default limits.
    package init() {}
}
