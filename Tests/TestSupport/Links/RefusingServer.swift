import EventLoop
import Foundation
import Synchronization

/// Replaces a PostgreSQL server. It accepts connections, closes them at once and records their times.
package final class RefusingServer: Sendable {
    /// The folder of its socket.
    package let folder: String
    private let listener: Int32
    /// The time of each connection, in nanoseconds of ``MonotonicClock``.
    private let calls = Mutex<[UInt64]>([])

    package init() throws {
        folder = "/tmp/vr-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = LocalSocket.make()
        guard LocalSocket.with("\(folder)/.s.PGSQL.5432", { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0
        else { throw ScratchCluster.Failure(description: "nobody can listen in \(folder)") }
        Thread.detachNewThread { [self] in accept() }
    }

    package var called: [UInt64] { calls.withLock { $0 } }

    package func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func accept() {
        while case let client = LocalSocket.accept(at: listener), client >= 0 {
            calls.withLock { $0.append(MonotonicClock.now()) }
            Foundation.close(client)
        }
        Foundation.close(listener)
    }
}
