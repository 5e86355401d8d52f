import CZMQ
import EventLoop
import Foundation

/// What libzmq refused, with its own words for it.
public struct ZMQError: Error, Sendable, CustomStringConvertible {
    public let code: Int32
    public let call: String
    public var description: String { "\(call): \(String(cString: zmq_strerror(code)))" }

    static func last(_ call: String) -> ZMQError { ZMQError(code: zmq_errno(), call: call) }
}

/// The context of the process: one, with one I/O thread, for as long as the process lives.
@Loop enum ZMQContext {
    static let shared: UnsafeMutableRawPointer? = {
        let context = zmq_ctx_new()
        zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 4096)
        return context
    }()
}

/// Sole owner of one ZeroMQ socket, on the loop's thread for life.
@Loop final class ZMQSocket {
    enum Kind { case router, dealer }

    private var raw: UnsafeMutableRawPointer?
    private var watch: SocketWatch?
    private var isClosed = false

    /// A socket with the options that every socket of the bus has (`docs/architecture.md`, "The bus").
    init(_ kind: Kind) throws(ZMQError) {
        guard let raw = zmq_socket(ZMQContext.shared, kind == .router ? ZMQ_ROUTER : ZMQ_DEALER) else {
            throw .last("zmq_socket")
        }
        self.raw = raw
        set(ZMQ_IMMEDIATE, 1)
        set(ZMQ_LINGER, 0)
        set(ZMQ_CONNECT_TIMEOUT, 1000)
        set(ZMQ_TCP_MAXRT, 5000)
        set(ZMQ_RECONNECT_IVL, 100)
        set(ZMQ_RECONNECT_IVL_MAX, 3000)
        set(ZMQ_HANDSHAKE_IVL, 2000)
        set(ZMQ_SNDHWM, 1024)
        set(ZMQ_RCVHWM, 1024)
        var largest: Int64 = 1 << 20
        zmq_setsockopt(raw, ZMQ_MAXMSGSIZE, &largest, MemoryLayout<Int64>.size)
        if kind == .router { set(ZMQ_ROUTER_MANDATORY, 1) }
    }

    isolated deinit { close() }

    private func set(_ option: Int32, _ value: Int32) {
        var value = value
        zmq_setsockopt(raw, option, &value, MemoryLayout<Int32>.size)
    }

    func bind(_ endpoint: String) throws(ZMQError) {
        guard zmq_bind(raw, endpoint) == 0 else { throw .last("bind to \(endpoint)") }
    }

    func connect(_ endpoint: String) throws(ZMQError) {
        guard zmq_connect(raw, endpoint) == 0 else { throw .last("connect to \(endpoint)") }
    }

    /// The endpoint of the last `bind`, with the port that the system chose.
    var lastEndpoint: String {
        var (buffer, length) = ([CChar](repeating: 0, count: 256), 256)
        zmq_getsockopt(raw, ZMQ_LAST_ENDPOINT, &buffer, &length)
        return String(decoding: buffer.prefix(max(0, length - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Calls `handler` while there are messages; it takes a bounded number a turn.
    func onReadable(_ handler: @escaping @Loop () -> Void) {
        guard let raw else { return }
        watch = SocketWatch(raw, onReadable: handler)
    }

    /// Sends all parts or none, without waiting.
    ///
    /// - Returns: false where the peer is unknown, gone or full: nothing was written.
    func send(_ parts: [UInt8]...) -> Bool {
        for (index, part) in parts.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < parts.count - 1 ? ZMQ_SNDMORE : 0)
            // Once the first part is taken the rest cannot be refused: libzmq accepts or refuses whole messages.
            guard zmq_send(raw, part, part.count, flags) >= 0 else { return false }
        }
        return true
    }

    /// The parts of the next message; `nil` when there is none.
    func receive() -> [[UInt8]]? {
        var parts: [[UInt8]] = []
        var message = zmq_msg_t()
        repeat {
            zmq_msg_init(&message)
            defer { zmq_msg_close(&message) }
            guard zmq_msg_recv(&message, raw, ZMQ_DONTWAIT) >= 0 else { return nil }
            let bytes = UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message))
            parts.append([UInt8](bytes))
            if zmq_msg_more(&message) == 0 { return parts }
        } while true
    }

    /// Closes at once, or gives what is queued up to `linger` to leave.
    func close(linger: Duration = .zero) {
        guard !isClosed else { return }
        isClosed = true
        watch?.cancel()
        set(ZMQ_LINGER, Int32(linger.milliseconds))
        zmq_close(raw)
        raw = nil
    }
}
