import Synchronization

/// The lines that a service logged, from whichever thread.
public final class LogBook: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    public init() {}

    public func append(_ line: [UInt8]) { bytes.withLock { $0 += line } }

    public var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
}
