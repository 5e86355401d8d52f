import BusProtocol
import Dispatch
import Foundation
import Synchronization

/// Writes lines on a thread of its own: whoever reads them slowly holds up no request.
///
/// What waits is bounded. A line for which there is no room is dropped and counted, and the count is written behind those
/// that had room.
final class LogWriter: Sendable {
    static let standardError = LogWriter(descriptor: 2)

    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var isWriting = false
    }

    /// Bytes.
    private let room: Int
    private let descriptor: Int32
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "log", qos: .utility)

    init(descriptor: Int32, room: Int = 4 << 20) { (self.descriptor, self.room) = (descriptor, room) }

    /// Takes a line, its end included, and returns at once.
    func append(_ line: [UInt8]) {
        let begins = state.withLock { state in
            if state.waiting.count + line.count <= room { state.waiting += line } else { state.dropped += 1 }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { [self] in writeAll() } }
    }

    /// Returns when what was appended before is written, or after a second: a reader that hangs keeps no process alive.
    func flush() {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + 1)
    }

    private func writeAll() {
        while let lines = next() {
            var rest = lines[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                // Nobody reads any more: there is nobody to tell.
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
        }
    }

    private func next() -> [UInt8]? {
        state.withLock { state in
            var lines = state.waiting
            if state.dropped > 0 { lines += Self.note(of: state.dropped) }
            (state.waiting, state.dropped) = ([], 0)
            state.isWriting = !lines.isEmpty
            return lines.isEmpty ? nil : lines
        }
    }

    private static func note(of dropped: Int) -> [UInt8] {
        let line = #"{"at":"\#(Timestamp.now())","event":"log_lines_dropped","level":"warning","lines":\#(dropped)}"#
        return Array((line + "\n").utf8)
    }
}
