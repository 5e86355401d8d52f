import CLinux

/// What a descriptor is watched for, or is ready for.
public struct FileInterest: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let read = FileInterest(rawValue: 1)
    public static let write = FileInterest(rawValue: 2)

    var epollEvents: UInt32 {
        (contains(.read) ? EPOLLIN.rawValue : 0) | (contains(.write) ? EPOLLOUT.rawValue : 0)
    }

    /// A hang-up or an error counts as readable and writable, so that the owner's next call meets it.
    init(epollEvents events: UInt32) {
        let failed = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        self = []
        if failed || events & EPOLLIN.rawValue != 0 { insert(.read) }
        if failed || events & EPOLLOUT.rawValue != 0 { insert(.write) }
    }
}

/// A descriptor under the loop's eyes, level-triggered, until `cancel`. It does not own the descriptor: cancel first,
/// close after.
@Loop public final class FileWatch {
    let descriptor: Int32
    var token: UInt = 0
    private(set) var interest: FileInterest
    private(set) var handler: @Loop (FileInterest) -> Void

    /// - Parameter handler: called on the loop, once a turn at the most, with what the descriptor is ready for.
    public init(_ descriptor: Int32, for interest: FileInterest, handler: @escaping @Loop (FileInterest) -> Void) {
        self.descriptor = descriptor
        self.interest = interest
        self.handler = handler
        LoopSources.shared.add(self)
    }

    /// Changes what is waited for; costs a system call only where it differs. An empty set still hears hang-ups.
    public func update(_ interest: FileInterest) {
        guard interest != self.interest else { return }
        self.interest = interest
        LoopSources.shared.change(self)
    }

    /// Ends the watch and lets go of the handler; a second call does nothing.
    public func cancel() {
        LoopSources.shared.remove(self)
        handler = { _ in }
    }
}
