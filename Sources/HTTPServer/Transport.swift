import EventLoop
import Glibc

/// Owns one connected socket: reads when asked to, writes what it is given in order, and never raises SIGPIPE.
@Loop final class Transport {
    enum Reading {
        case bytes(ArraySlice<UInt8>)
        case end, nothing, failed
    }

    /// Shared by all: what was read is copied out of it before the next one reads.
    private static var room = [UInt8](repeating: 0, count: 65_536)

    private var descriptor: Int32
    private var watch: FileWatch?
    private var pending: [UInt8] = []
    private var sent = 0
    /// Sent after `pending`; its storage may be many transports'.
    private var shared: [UInt8] = []
    private var wantsInput = true
    /// Called when the socket may have input, or was reset.
    var onReadable: @Loop () -> Void = {}
    /// Called when everything that waited has been taken by the kernel.
    var onDrained: @Loop () -> Void = {}
    /// Called when the other end took some of what waited.
    var onProgress: @Loop () -> Void = {}
    /// Called when the socket is broken.
    var onFailure: @Loop () -> Void = {}

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        watch = FileWatch(descriptor, for: .read) { [weak self] ready in self?.handle(ready) }
    }

    isolated deinit { close() }

    var isClosed: Bool { descriptor < 0 }
    var hasPending: Bool { sent < pending.count }

    func close() {
        watch?.cancel()
        watch = nil
        (onReadable, onDrained, onProgress, onFailure) = ({}, {}, {}, {})
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Says that nothing more will be written; input may still come.
    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    func wantInput(_ wanted: Bool) {
        wantsInput = wanted
        updateInterest()
    }

    private func updateInterest() {
        var interest: FileInterest = wantsInput ? .read : []
        if hasPending { interest.insert(.write) }
        watch?.update(interest)
    }

    func read() -> Reading {
        let count = Self.room.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 { return .bytes(Self.room[..<count]) }
        if count == 0 { return .end }
        return errno == EAGAIN || errno == EINTR ? .nothing : .failed
    }

    /// Sends at once what the kernel takes; the rest waits, and `onDrained` tells when it is gone.
    ///
    /// - Parameter body: sent after `bytes`, and never copied; nothing may be written before it is gone.
    func write(_ bytes: [UInt8], then body: [UInt8] = []) {
        precondition(shared.isEmpty, "written behind a body")
        if hasPending {
            pending.append(contentsOf: bytes)
        } else {
            (pending, sent) = (bytes, 0)
        }
        shared = body
        flush()
    }

    private func flush() {
        while hasPending {
            let count = pending.withUnsafeBytes { send(descriptor, $0.baseAddress! + sent, $0.count - sent, flags) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                if errno == EAGAIN { return updateInterest() }
                return onFailure()
            }
            sent += count
            onProgress()
            if !hasPending, !shared.isEmpty { (pending, sent, shared) = (shared, 0, []) }
        }
        (pending, sent) = ([], 0)
        updateInterest()
    }

    /// A head goes out with the begin of its body.
    private var flags: Int32 {
        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT) | (shared.isEmpty ? 0 : Int32(MSG_MORE))
    }

    private func handle(_ ready: FileInterest) {
        if ready.contains(.write), hasPending {
            flush()
            if !isClosed, !hasPending { onDrained() }
        }
        guard ready.contains(.read), !isClosed else { return }
        // With no interest in input this is a hang-up: nothing can be answered any more.
        if wantsInput { onReadable() } else { onFailure() }
    }
}
