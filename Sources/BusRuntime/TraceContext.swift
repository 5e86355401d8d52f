/// Where a request stands in its trace. Source: W3C Trace Context, level 1.
public struct TraceContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits, not all zero.
    public let traceID: String
    /// 16 lower-case hexadecimal digits, not all zero.
    public let spanID: String

    private init(traceID: String, spanID: String) { (self.traceID, self.spanID) = (traceID, spanID) }

    /// A trace that begins here.
    public static func fresh() -> TraceContext {
        TraceContext(
            traceID: hex(UInt64.random(in: 1...UInt64.max)) + hex(.random(in: 0...UInt64.max)), spanID: newSpan())
    }

    /// - Parameter header: a `traceparent`; `nil` where it is malformed, and then a trace begins anew.
    public init?(traceparent header: String) {
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        func isHex(_ part: Substring, _ count: Int) -> Bool {
            part.utf8.count == count
                && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        guard parts.count >= 4, isHex(parts[0], 2), parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            isHex(parts[1], 32), isHex(parts[2], 16), isHex(parts[3], 2), parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        self.init(traceID: String(parts[1]), spanID: String(parts[2]))
    }

    /// The next hop of the same trace.
    public func child() -> TraceContext { TraceContext(traceID: traceID, spanID: Self.newSpan()) }

    public var traceparent: String { "00-\(traceID)-\(spanID)-01" }

    private static func newSpan() -> String { hex(UInt64.random(in: 1...UInt64.max)) }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
