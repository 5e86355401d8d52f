import JSONText
import Synchronization

/// Collects the lines of a service's log from any thread.
package final class LogBook: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    package init() {}

    package func append(_ line: [UInt8]) { bytes.withLock { $0 += line } }

    package var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    /// A log without its times and generated IDs. In a long log, these would contain any code of six digits by chance.
    package static func told(in log: String) -> String {
        log.split(separator: "\n").map { line in
            guard case .object(var line) = try? JSONValue.parse(Array(line.utf8)) else { return String(line) }
            for name in ["at", "traceId", "instance", "microseconds"] { line[name] = nil }
            return String(decoding: CanonicalJSON.bytes(of: .object(line)), as: UTF8.self)
        }.joined(separator: "\n")
    }
}
