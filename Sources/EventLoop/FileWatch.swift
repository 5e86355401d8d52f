import CLinux

/// Events of a descriptor: those to watch for, or those that have happened.
package struct FileInterest: OptionSet, Sendable {
    /// The set as bits.
    package let rawValue: UInt8
    /// Makes a set of bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// There is input, the end of it, or an error.
    package static let read = FileInterest(rawValue: 1)
    /// There is room for output, or an error.
    package static let write = FileInterest(rawValue: 2)

    var epollEvents: UInt32 {
        (contains(.read) ? EPOLLIN.rawValue : 0) | (contains(.write) ? EPOLLOUT.rawValue : 0)
    }

    /// A hang-up or an error counts as readable and writable, so that the owner's next call returns it.
    init(epollEvents events: UInt32) {
        let failed = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        self = []
        if failed || events & EPOLLIN.rawValue != 0 { insert(.read) }
        if failed || events & EPOLLOUT.rawValue != 0 { insert(.write) }
    }
}

/// Watches a descriptor, level-triggered, until ``cancel()``. It does not own the descriptor. Cancel the watch before
/// you close the descriptor.
@Loop package final class FileWatch {
    let descriptor: Int32
    var token: UInt = 0
    private(set) var interest: FileInterest
    private(set) var handler: @Loop (FileInterest) -> Void
    private var looksAgain = false

    /// Starts to watch a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: must stay open until ``cancel()``.
    ///   - interest: the events to watch for.
    ///   - handler: called on the loop, at most once a turn, with the events.
    package init(_ descriptor: Int32, for interest: FileInterest, handler: @escaping @Loop (FileInterest) -> Void) {
        self.descriptor = descriptor
        self.interest = interest
        self.handler = handler
        LoopSources.shared.add(self)
    }

    /// Changes the events to watch for. It makes a system call only for a change. An empty set still reports hang-ups.
    package func update(_ interest: FileInterest) {
        guard interest != self.interest else { return }
        self.interest = interest
        LoopSources.shared.change(self)
    }

    /// Calls the handler once before the loop waits again, as if the descriptor were readable.
    ///
    /// It is for descriptors that report only changes. Call it after an operation that may have consumed the report:
    /// see `zmq_getsockopt(3)`, `ZMQ_FD`.
    package func lookAgain() {
        guard !looksAgain else { return }
        looksAgain = true
        LoopSources.shared.lookAgain(self)
    }

    func look() {
        looksAgain = false
        handler(.read)
    }

    /// Ends the watch and releases the handler. A second call does nothing.
    package func cancel() {
        LoopSources.shared.remove(self)
        handler = { _ in }
    }
}
