import Foundation
import Synchronization

/// A socket that closes each connection at once, and counts them.
public final class RefusingSocket: Sendable {
    private let path: String
    private let listener: Int32
    private let count = Mutex(0)

    public init(at path: String) throws {
        (self.path, listener) = (path, LocalSocket.make())
        guard LocalSocket.with(path, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
            throw ScratchCluster.Failure(description: "nothing can listen at \(path)")
        }
        Thread.detachNewThread { [self] in
            while case let client = LocalSocket.accept(at: listener), client >= 0 {
                count.withLock { $0 += 1 }
                Foundation.close(client)
            }
            Foundation.close(listener)
        }
    }

    /// Accepts no more, and returns how many connections there were.
    public func close() -> Int {
        unlink(path)
        // It wakes the thread, which closes the socket.
        shutdown(listener, Int32(SHUT_RDWR))
        return count.withLock { $0 }
    }
}
