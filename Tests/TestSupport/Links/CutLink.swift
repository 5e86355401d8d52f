import Foundation
import Synchronization

/// A proxy for a process's socket that a test can cut. Its connections then end, and no new one gets through until the
/// test mends it.
package final class CutLink: Sendable {
    /// The path of the socket on which it listens.
    package let path: String
    private let target: String
    private let state = Mutex((listener: Int32(-1), ends: [Int32]()))

    /// - Parameters:
    ///   - path: the path of the proxy's socket. The proxy creates the socket.
    ///   - target: the path of the socket to which it forwards.
    package init(at path: String, to target: String) throws {
        (self.path, self.target) = (path, target)
        try mend()
    }

    /// Ends the connection on both sides, as when a machine between them fails.
    package func cut() {
        let (listener, ends) = state.withLock { state in
            defer { state = (-1, []) }
            return state
        }
        unlink(path)
        for descriptor in [listener] + ends { shutdown(descriptor, Int32(SHUT_RDWR)) }
        close(listener)
    }

    package func mend() throws {
        let listener = LocalSocket.make()
        guard LocalSocket.with(path, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
            throw ScratchCluster.Failure(description: "the link cannot listen at \(path)")
        }
        state.withLock { $0.listener = listener }
        Thread.detachNewThread { [self] in accept(at: listener) }
    }

    private func accept(at listener: Int32) {
        while true {
            let client = LocalSocket.accept(at: listener)
            guard client >= 0 else { return }
            let upstream = LocalSocket.make()
            _ = LocalSocket.with(target) { connect(upstream, $0, $1) }
            let isCut = state.withLock { state in
                guard state.listener == listener else { return true }
                state.ends += [client, upstream]
                return false
            }
            guard !isCut else { return [client, upstream].forEach { close($0) } }
            for (source, sink) in [(client, upstream), (upstream, client)] {
                Thread.detachNewThread { Self.pump(from: source, to: sink) }
            }
        }
    }

    /// Forwards until either side closes. The few descriptors of a test stay open until the process ends.
    private static func pump(from source: Int32, to sink: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0, send(sink, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        for descriptor in [source, sink] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}
