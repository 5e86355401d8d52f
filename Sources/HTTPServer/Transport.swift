import EventLoop
import Glibc

/// Owns one connected socket. It reads when asked to, writes in order, and never raises `SIGPIPE`.
@Loop final class Transport {
    enum Reading {
        case bytes(ArraySlice<UInt8>)
        case end, nothing, failed
    }

    /// A buffer that all transports share: each copies what it read before the next one reads.
    private static var room = [UInt8](repeating: 0, count: 65_536)

    private var descriptor: Int32
    private var watch: FileWatch?
    private var pending: [UInt8] = []
    private var sent = 0
    /// Sent after `pending`. Transports may share its storage.
    private var shared: [UInt8] = []
    private var wantsInput = true
    /// Called when the socket may have input, or was reset.
    var onReadable: @Loop () -> Void = {}
    /// Called when the kernel has taken all waiting bytes.
    var onDrained: @Loop () -> Void = {}
    /// Called when the kernel has taken some of the waiting bytes.
    var onProgress: @Loop () -> Void = {}
    /// Called when the socket is broken.
    var onFailure: @Loop () -> Void = {}

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        watch = FileWatch(descriptor, for: .read) { [unowned self] in handle($0) }
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

    /// Closes the sending half. Input may still arrive.
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

    /// Sends at once as much as the kernel takes. The rest waits. The transport calls `onDrained` after it has sent the
    /// rest.
    ///
    /// - Parameter body: sent after `bytes` without being copied. Write nothing else before `onDrained`.
    func write(_ bytes: [UInt8], then body: [UInt8] = []) {
        precondition(shared.isEmpty, "written after a body")
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

    /// With `MSG_MORE`, the kernel sends a head together with the beginning of its body.
    private var flags: Int32 {
        Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT) | (shared.isEmpty ? 0 : Int32(MSG_MORE))
    }

    private func handle(_ ready: FileInterest) {
        if ready.contains(.write), hasPending {
            flush()
            if !isClosed, !hasPending { onDrained() }
        }
        guard ready.contains(.read), !isClosed else { return }
        // Without interest in input, this event is a hang-up: no response can be sent any more.
        if wantsInput { onReadable() } else { onFailure() }
    }
}
