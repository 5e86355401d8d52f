import Foundation
import JSONText

/// What the development providers wrote: one JSON object a line.
struct Spool {
    let file: String

    func lines() -> [JSONValue] {
        guard let data = FileManager.default.contents(atPath: file) else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue.parse([UInt8]($0)) }
    }

    /// Waits for a line that fits, 45 s at the most: what was in hand when a process ended is taken again after the 30 s of its
    /// lease.
    func wait(for what: String, where fits: (JSONValue) -> Bool) throws -> JSONValue {
        let end = Date().addingTimeInterval(45)
        while Date() < end {
            if let line = lines().last(where: fits) { return line }
            usleep(20_000)
        }
        throw CommandError("\(what) did not come within 45 s")
    }
}
