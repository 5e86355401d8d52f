import BusProtocol

/// The trace that a request belongs to. Source: W3C Trace Context, level 1.
package struct TraceContext: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64
    private let span: UInt64

    private init(_ high: UInt64, _ low: UInt64, span: UInt64) { (self.high, self.low, self.span) = (high, low, span) }

    /// A new trace.
    package static func fresh() -> TraceContext {
        let (high, low) = Identifier.random().words
        return TraceContext(high, low, span: newSpan())
    }

    /// Reads a trace; `nil` if the header is malformed, and then a new trace begins.
    ///
    /// - Parameter header: a `traceparent`.
    package init?(traceparent header: String) {
        let bytes = Array(header.utf8)
        func isDash(_ index: Int) -> Bool { bytes[index] == UInt8(ascii: "-") }
        guard bytes.count >= 55, isDash(2), isDash(35), isDash(52), let version = Self.number(bytes[0..<2]),
            version != 0xff, bytes.count == 55 || (version != 0 && isDash(55)), Self.number(bytes[53..<55]) != nil,
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high | low != 0,
            let span = Self.number(bytes[36..<52]), span != 0
        else { return nil }
        self.init(high, low, span: span)
    }

    /// A new span of the same trace, for the next hop.
    package func child() -> TraceContext { TraceContext(high, low, span: Self.newSpan()) }

    /// 32 lower-case hexadecimal digits, not all zero.
    package var traceID: String { text { $0.put(high).put(low) } }
    /// 16 lower-case hexadecimal digits, not all zero.
    package var spanID: String { text { $0.put(span) } }
    /// The value of the header `traceparent`.
    package var traceparent: String { text { $0.put("00-").put(high).put(low).put("-").put(span).put("-01") } }

    /// Never zero, because a UUID of version 4 has some bits that are always set.
    private static func newSpan() -> UInt64 { Identifier.random().words.high }

    private func text(_ write: (HexWriter) -> HexWriter) -> String {
        String(unsafeUninitializedCapacity: 55) { write(HexWriter(buffer: $0)).position }
    }

    /// Only lower-case digits, as the standard requires.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for byte in digits {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }
}

/// Writes digits into the storage of a string.
private struct HexWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    var position = 0

    init(buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    func put(_ value: UInt64) -> HexWriter {
        var next = self
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(value >> UInt64(shift) & 15)
            buffer[next.position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            next.position += 1
        }
        return next
    }

    func put(_ text: StaticString) -> HexWriter {
        var next = self
        for index in 0..<text.utf8CodeUnitCount {
            buffer[next.position] = text.utf8Start[index]
            next.position += 1
        }
        return next
    }
}
