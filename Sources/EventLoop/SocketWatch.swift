import CZMQ

/// Watches a ZeroMQ socket until ``cancel()``. It does not own the socket: cancel first, then close.
@Loop public final class SocketWatch {
    let socket: UnsafeMutableRawPointer
    private(set) var isCancelled = false
    private(set) var handler: @Loop () -> Void

    /// Starts to watch a socket.
    ///
    /// - Parameters:
    ///   - socket: must stay open until ``cancel()``.
    ///   - handler: called on the loop, once a turn, while the socket has messages. It should take a bounded number of
    ///     them, usually 32, and leave the rest to the next turn.
    public init(_ socket: UnsafeMutableRawPointer, onReadable handler: @escaping @Loop () -> Void) {
        self.socket = socket
        self.handler = handler
        LoopSources.shared.add(self)
    }

    /// Ends the watch and releases the handler. A second call does nothing.
    public func cancel() {
        isCancelled = true
        handler = {}
        LoopSources.shared.remove(self)
    }
}
