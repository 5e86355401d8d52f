import CZMQ

/// A ZeroMQ socket under the loop's eyes until `cancel`. It does not own the socket: cancel first, close after.
@Loop public final class SocketWatch {
    let socket: UnsafeMutableRawPointer
    private(set) var isCancelled = false
    private(set) var handler: @Loop () -> Void

    /// - Parameter handler: called on the loop, once a turn, while the socket has messages. It takes a bounded number of
    ///   them (32 is the custom) and leaves the rest to the next turn.
    public init(_ socket: UnsafeMutableRawPointer, onReadable handler: @escaping @Loop () -> Void) {
        self.socket = socket
        self.handler = handler
        LoopSources.shared.add(self)
    }

    /// Ends the watch and lets go of the handler; a second call does nothing.
    public func cancel() {
        isCancelled = true
        handler = {}
        LoopSources.shared.remove(self)
    }
}
