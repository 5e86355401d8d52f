import BusProtocol
import Dispatch
import Foundation
import Synchronization

/// Writes lines on its own thread, so a slow reader delays no request.
///
/// The number of waiting bytes is limited. The writer drops and counts a line without room. It writes the count after
/// the lines that had room.
final class LogWriter: Sendable {
    static let standardError = LogWriter(descriptor: 2)

    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var isWriting = false
    }

    /// The most bytes that may wait.
    private let room: Int
    private let descriptor: Int32
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "log", qos: .utility)

    init(descriptor: Int32, room: Int = 4 << 20) { (self.descriptor, self.room) = (descriptor, room) }

    /// Takes a line with its line feed, and returns at once.
    func append(_ line: [UInt8]) {
        let begins = state.withLock { state in
            if state.waiting.count + line.count <= room { state.waiting += line } else { state.dropped += 1 }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { [self] in writeAll() } }
    }

    /// Returns when all earlier lines are written, or after a second at the latest. A hanging reader does not keep the
    /// process alive.
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
                // The reader has closed the pipe, so the lines are discarded.
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
