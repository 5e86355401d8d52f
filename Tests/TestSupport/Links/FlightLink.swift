import Foundation
import Synchronization

/// A proxy for a PostgreSQL server that groups the bytes to the server into flights. A flight has all bytes that are
/// sent before an answer comes. So each flight is a round trip.
package final class FlightLink: Sendable {
    /// The folder of the proxy's socket, for `host=` in a connection string.
    package let folder: String
    private let server: String
    private let listener: Int32
    private let seen = Mutex((connections: [[[UInt8]]](), isAnswered: [Bool]()))

    /// - Parameter server: the folder of the server's socket.
    package init(to server: String) throws {
        self.server = server
        folder = "/tmp/vestibule-link-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = LocalSocket.make()
        guard Self.with(folder, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
            throw ScratchCluster.Failure(description: "the link cannot listen")
        }
        Thread.detachNewThread { [self] in accept() }
    }

    /// The flights of each connection. Their text parts are readable.
    package var flights: [[String]] {
        seen.withLock { $0.connections.map { $0.map { String(decoding: $0, as: UTF8.self) } } }
    }

    package func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Foundation.close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func accept() {
        while true {
            let client = LocalSocket.accept(at: listener)
            guard client >= 0 else { return }
            let upstream = LocalSocket.make()
            _ = Self.with(server) { connect(upstream, $0, $1) }
            let number = seen.withLock { seen in
                seen.connections.append([])
                seen.isAnswered.append(true)
                return seen.connections.count - 1
            }
            Thread.detachNewThread { [self] in pump(from: client, to: upstream, of: number, isAnswer: false) }
            Thread.detachNewThread { [self] in pump(from: upstream, to: client, of: number, isAnswer: true) }
        }
    }

    /// Forwards until either side closes. The few descriptors of a test stay open until the process ends.
    private func pump(from source: Int32, to target: Int32, of number: Int, isAnswer: Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            note(Array(buffer.prefix(count)), of: number, isAnswer: isAnswer)
            guard send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        for descriptor in [source, target] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func note(_ bytes: [UInt8], of number: Int, isAnswer: Bool) {
        seen.withLock { seen in
            guard !isAnswer else { return seen.isAnswered[number] = true }
            if seen.isAnswered[number] { seen.connections[number].append([]) }
            seen.isAnswered[number] = false
            seen.connections[number][seen.connections[number].count - 1] += bytes
        }
    }

    /// Calls the body with the address of libpq's socket in a folder.
    private static func with(_ folder: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        LocalSocket.with("\(folder)/.s.PGSQL.5432", body)
    }
}
