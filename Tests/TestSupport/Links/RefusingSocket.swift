import Foundation
import Synchronization

/// A socket that closes each connection at once, and counts them.
package final class RefusingSocket: Sendable {
    private let path: String
    private let listener = LocalSocket.make()
    private let state = Mutex((count: 0, isOver: false))

    package init(at path: String) throws {
        self.path = path
        let listener = listener
        guard LocalSocket.with(path, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
            Foundation.close(listener)
            throw ScratchCluster.Failure(description: "nothing can listen at \(path)")
        }
        Thread.detachNewThread { [self] in
            while true {
                let client = LocalSocket.accept(at: listener)
                if client >= 0 { Foundation.close(client) }
                let isOver = state.withLock { state in
                    if client >= 0 { state.count += 1 }
                    return state.isOver
                }
                // Only this thread closes the socket. So no other file gets its number before the thread has ended.
                if isOver { return _ = Foundation.close(listener) }
            }
        }
    }

    /// Accepts no more connections, and returns their number. Call it only once.
    package func close() -> Int {
        unlink(path)
        return state.withLock { state in
            state.isOver = true
            // This wakes the thread. The thread closes the socket once it sees `isOver`.
            shutdown(listener, Int32(SHUT_RDWR))
            return state.count
        }
    }
}
