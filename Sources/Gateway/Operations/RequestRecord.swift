import BusProtocol
import BusRuntime

/// One answered request, with nothing personal in it: the route's template, not the path.
struct RequestRecord: Sendable {
    var method: String?
    var route: String?
    var status: Int
    var trace: TraceContext
    /// Nanoseconds of the monotonic clock.
    var began: UInt64?

    /// The method for logs and metrics. Any method that the gateway does not know becomes `other`, since a client may
    /// send any word.
    var knownMethod: String? {
        method.map { HTTPRoute.Method(rawValue: $0) != nil || ["HEAD", "OPTIONS"].contains($0) ? $0 : "other" }
    }
}
