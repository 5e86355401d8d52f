import HTTPServer

/// The CORS headers for the origins that the operator allows. Other origins get none.
struct CrossOrigin: Sendable {
    let origins: Set<String>

    /// - Returns: the headers by which a browser lets the origin's page read the response.
    func headers(for request: HTTPRequestHead) -> [(name: String, value: String)] {
        guard !origins.isEmpty else { return [] }
        guard let origin = request.headers.first("origin"), origins.contains(origin) else {
            return [("vary", "Origin")]
        }
        return [
            ("vary", "Origin"), ("access-control-allow-origin", origin),
            ("access-control-expose-headers", "ETag, Idempotency-Replayed, Retry-After, Trace-Id"),
        ]
    }

    /// The further headers of the response to a preflight request.
    func preflight(for request: HTTPRequestHead, methods: [String]) -> [(name: String, value: String)] {
        guard let origin = request.headers.first("origin"), origins.contains(origin),
            request.headers.first("access-control-request-method") != nil
        else { return [] }
        return [
            ("access-control-allow-methods", methods.joined(separator: ", ")),
            (
                "access-control-allow-headers",
                "accept-language, authorization, content-type, idempotency-key, if-match, if-none-match, traceparent"
            ),
            ("access-control-max-age", "600"),
        ]
    }
}
