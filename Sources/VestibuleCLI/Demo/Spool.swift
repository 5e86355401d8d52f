import EventLoop
import Foundation
import JSONText

/// A file of the development providers, with one JSON object a line.
struct Spool {
    let file: String

    func lines() -> [JSONValue] {
        guard let data = FileManager.default.contents(atPath: file) else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue.parse([UInt8]($0)) }
    }

    /// Waits up to 45 s for a line that fits. If a process ends while it sends a message, another one sends it after
    /// the lease of 30 s.
    func wait(for what: String, where fits: (JSONValue) -> Bool) throws -> JSONValue {
        let end = Date().addingTimeInterval(45)
        while Date() < end {
            if let line = lines().last(where: fits) { return line }
            usleep(20_000)
        }
        throw CommandError("\(what) did not come within 45 s")
    }

    /// Waits in the same way, without holding a thread of Swift's tasks.
    func line(for what: String, where fits: @escaping @Sendable (JSONValue) -> Bool) async throws -> JSONValue {
        try await Loop.offload { try wait(for: what, where: fits) }
    }
}
