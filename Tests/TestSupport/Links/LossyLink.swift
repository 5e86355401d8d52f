import Foundation
import Synchronization

/// A proxy for a PostgreSQL server that loses or holds its answers, so that the server has done the work unnoticed.
package final class LossyLink: Sendable {
    /// The folder of the proxy's socket, for `host=` in a connection string.
    package let folder: String
    private let server: String
    private let listener: Int32
    private let losesNextAnswer = Mutex(false)
    private let commits = Mutex((isHolding: false, held: [Int32]()))

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

    /// Discards the server's next answer and closes its connection.
    package func loseNextAnswer() { losesNextAnswer.withLock { $0 = true } }

    /// Holds the answers of commits from now on. Other answers pass.
    package func holdCommits() { commits.withLock { $0.isHolding = true } }

    /// The number of commits whose answers are held.
    package var heldCommits: Int { commits.withLock { $0.held.count } }

    /// Closes the connections whose answers are held. From now on all answers pass.
    package func loseHeldCommits() {
        let clients = commits.withLock { commits in
            defer { commits = (false, []) }
            return commits.held
        }
        for client in clients { shutdown(client, Int32(SHUT_RDWR)) }
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
            Thread.detachNewThread { [self] in pump(from: client, to: upstream, isAnswer: false) }
            Thread.detachNewThread { [self] in pump(from: upstream, to: client, isAnswer: true) }
        }
    }

    /// Forwards until either side closes. The few descriptors of a test stay open until the process ends.
    private func pump(from source: Int32, to target: Int32, isAnswer: Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            if isAnswer, count > 0, isHeld(buffer.prefix(count), for: target) { return }
            let isLost = isAnswer && count > 0 && losesNextAnswer.withLock { exchange(&$0) }
            guard count > 0, !isLost, send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        for descriptor in [source, target] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func isHeld(_ answer: some Collection<UInt8>, for client: Int32) -> Bool {
        commits.withLock { commits in
            guard commits.isHolding, answer.contains(Array("COMMIT\0".utf8)) else { return false }
            commits.held.append(client)
            return true
        }
    }

    private func exchange(_ flag: inout Bool) -> Bool {
        defer { flag = false }
        return flag
    }

    /// Calls the body with the address of libpq's socket in a folder.
    private static func with(_ folder: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        LocalSocket.with("\(folder)/.s.PGSQL.5432", body)
    }
}
