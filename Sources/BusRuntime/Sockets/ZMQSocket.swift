import BusProtocol
import CZMQ
import EventLoop
import Glibc

/// An operation that libzmq refused, with libzmq's text for the reason.
package struct ZMQError: Error, Sendable, CustomStringConvertible {
    /// The `errno` of libzmq.
    package let code: Int32
    /// The call that failed.
    package let call: String
    package var description: String { "\(call): \(String(cString: zmq_strerror(code)))" }

    static func last(_ call: String) -> ZMQError { ZMQError(code: zmq_errno(), call: call) }
}

/// The process's ZeroMQ context: one, with one I/O thread, until the process ends.
@Loop enum ZMQContext {
    static let shared: UnsafeMutableRawPointer? = {
        let context = zmq_ctx_new()
        zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 4096)
        return context
    }()
}

/// A received message: a frame, or something else.
struct Received {
    /// The routing ID of the sender on a ROUTER; empty on a DEALER.
    var peer: [UInt8] = []
    /// The number of the connection's key; 0 if it has none.
    var identity: BusSecurity.Identity = 0
    /// A wire version that its sender understands.
    var wire = WireVersion.twoParts
    /// `nil` if the message does not have exactly the parts of a frame.
    var header: Result<FrameHeader, FrameError>?
    var body: [UInt8] = []

    /// Where an answer to it is sent.
    var returnAddress: ReturnAddress { ReturnAddress(id: peer, wire: wire) }

    /// The header, if it is well-formed and fits the body.
    var frame: FrameHeader? {
        guard case .success(let header)? = header, Int(header.bodyLength) == body.count else { return nil }
        return header
    }

    /// Reads a frame in one part.
    fileprivate mutating func read(_ bytes: UnsafeRawBufferPointer) {
        do throws(FrameError) {
            let frame = try FrameHeader.read(bytes)
            (header, body) = (.success(frame.header), [UInt8](frame.body))
        } catch {
            header = .failure(error)
        }
    }
}

/// The only owner of one ZeroMQ socket. The socket stays on the loop's thread.
@Loop final class ZMQSocket {
    enum Kind { case router, dealer }

    /// The most bytes of a message. libzmq closes a connection that carries a larger message.
    private nonisolated static let largest = 1 << 20
    /// The most bytes of a body. The rest is for the header.
    nonisolated static let largestBody = largest - 4096

    private let kind: Kind
    private var raw: UnsafeMutableRawPointer?
    private var watch: FileWatch?
    private var monitor: ConnectionMonitor?
    private var readsIdentity = false

    /// Opens a socket with the options of every socket of the bus.
    init(_ kind: Kind) throws(ZMQError) {
        guard let raw = zmq_socket(ZMQContext.shared, kind == .router ? ZMQ_ROUTER : ZMQ_DEALER) else {
            throw .last("zmq_socket")
        }
        self.kind = kind
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
        var largest = Int64(Self.largest)
        zmq_setsockopt(raw, ZMQ_MAXMSGSIZE, &largest, MemoryLayout<Int64>.size)
        if kind == .router { set(ZMQ_ROUTER_MANDATORY, 1) }
    }

    isolated deinit { close() }

    /// Accepts only the keys that the authenticator admits for this domain. Call it before `bind`.
    func secure(as security: BusSecurity, domain: String) throws(ZMQError) {
        try require(ZMQ_CURVE_SERVER, Int32(1))
        try require(ZMQ_CURVE_SECRETKEY, security.secret.bytes)
        try require(ZMQ_ZAP_DOMAIN, Array(domain.utf8))
        // Without an authenticator, libzmq accepts nobody instead of everybody.
        try require(CZMQ_ZAP_ENFORCE_DOMAIN, Int32(1))
        readsIdentity = true
    }

    /// Connects only to the owner of this public key. Call it before `connect`.
    func secure(as security: BusSecurity, towards key: BusKey) throws(ZMQError) {
        try require(ZMQ_CURVE_SERVERKEY, key.bytes)
        try require(ZMQ_CURVE_PUBLICKEY, security.publicKey.bytes)
        try require(ZMQ_CURVE_SECRETKEY, security.secret.bytes)
    }

    /// Sets an option without which the socket would be open to anybody.
    private func require(_ option: Int32, _ value: [UInt8]) throws(ZMQError) {
        guard zmq_setsockopt(raw, option, value, value.count) == 0 else { throw .last("zmq_setsockopt \(option)") }
    }

    private func require(_ option: Int32, _ value: Int32) throws(ZMQError) {
        try require(option, withUnsafeBytes(of: value) { Array($0) })
    }

    private func set(_ option: Int32, _ value: Int32) {
        var value = value
        zmq_setsockopt(raw, option, &value, MemoryLayout<Int32>.size)
    }

    func bind(_ endpoint: String) throws(ZMQError) {
        if endpoint.contains("[") { set(ZMQ_IPV6, 1) }
        guard zmq_bind(raw, endpoint) == 0 else { throw .last("bind to \(endpoint)") }
    }

    /// Connects, and connects again whenever the connection is lost.
    ///
    /// - Parameter onConnection: called with each change of the connection.
    func connect(
        _ endpoint: String, onConnection: @escaping @Loop (ConnectionChange) -> Void
    ) throws(ZMQError) {
        if endpoint.contains("[") { set(ZMQ_IPV6, 1) }
        if let raw { monitor = try ConnectionMonitor(of: raw, onConnection) }
        guard zmq_connect(raw, endpoint) == 0 else { throw .last("connect to \(endpoint)") }
        watch?.lookAgain()
    }

    /// The endpoint of the last `bind`, with the port that the system chose.
    var lastEndpoint: String {
        var (buffer, length) = ([CChar](repeating: 0, count: 256), 256)
        zmq_getsockopt(raw, ZMQ_LAST_ENDPOINT, &buffer, &length)
        return String(decoding: buffer.prefix(max(0, length - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Calls `handler` when there may be messages. The handler takes a bounded number of messages, and returns whether
    /// more may wait. If so, it is called again in the next turn.
    func onReadable(_ handler: @escaping @Loop () -> Bool) throws(ZMQError) {
        var (descriptor, length) = (Int32(-1), MemoryLayout<Int32>.size)
        guard zmq_getsockopt(raw, ZMQ_FD, &descriptor, &length) == 0 else { throw .last("zmq_getsockopt ZMQ_FD") }
        watch = FileWatch(descriptor, for: .read) { [unowned self] _ in
            // The handler may end the last reference to this socket.
            let socket = self
            if handler() { socket.watch?.lookAgain() }
        }
        watch?.lookAgain()
    }

    /// Lets the socket notice new and lost connections. A send without waiting may not check for them.
    func refresh() {
        var (events, length) = (Int32(0), MemoryLayout<Int32>.size)
        zmq_getsockopt(raw, ZMQ_EVENTS, &events, &length)
        watch?.lookAgain()
    }

    /// Sends a frame without waiting, as a whole or not at all.
    ///
    /// - Parameters:
    ///   - peer: the receiver's routing ID, on a ROUTER.
    ///   - wire: the wire version that the receiver understands.
    /// - Returns: false if the peer is unknown, gone or full. Nothing was written then.
    func send(_ header: FrameHeader, _ body: [UInt8], to peer: [UInt8]? = nil, in wire: WireVersion) -> Bool {
        guard raw != nil else { return false }
        // libzmq accepts or refuses whole messages. Once it accepts the first part, it accepts the rest.
        if let peer { guard send(peer, ZMQ_SNDMORE) else { return false } }
        switch wire {
        case .onePart, .bundles: return send(header.encoded(before: body), 0)
        case .twoParts:
            guard send(header.encoded(), ZMQ_SNDMORE) else { return false }
            return send(body, 0)
        }
    }

    /// Does the same as ``send(_:_:to:in:)``, for the bundle of a receiver that understands bundles.
    func send(_ bundle: FrameBundle, to peer: [UInt8]? = nil) -> Bool {
        guard raw != nil else { return false }
        if let peer { guard send(peer, ZMQ_SNDMORE) else { return false } }
        return bundle.withMessage { send($0, 0) }
    }

    private func send(_ part: [UInt8], _ flags: Int32) -> Bool { part.withUnsafeBytes { send($0, flags) } }

    private func send(_ part: UnsafeRawBufferPointer, _ flags: Int32) -> Bool {
        // libzmq may notice new messages while it sends. The descriptor then no longer reports them.
        watch?.lookAgain()
        return zmq_send(raw, part.baseAddress, part.count, ZMQ_DONTWAIT | flags) >= 0
    }

    /// Calls `handler` with each frame of the next message.
    ///
    /// - Returns: false if there is no message.
    func receive(_ deliver: @Loop (Received) -> Void) -> Bool {
        guard raw != nil else { return false }
        var received = Received()
        let first = kind == .router ? 0 : 1
        var part = first
        var message = zmq_msg_t()
        while true {
            zmq_msg_init(&message)
            defer { zmq_msg_close(&message) }
            guard zmq_msg_recv(&message, raw, ZMQ_DONTWAIT) >= 0 else { return false }
            let bytes = UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message))
            let isLast = zmq_msg_more(&message) == 0
            switch part {
            case 0: received.peer = [UInt8](bytes)
            case 1:
                // The user ID is not read from the first part. libzmq gives that part no user ID once the socket was
                // asked for its events.
                if readsIdentity, let user = zmq_msg_gets(&message, "User-Id") {
                    received.identity = BusSecurity.Identity(atoi(user))
                }
                if isLast {
                    deliverFrames(of: bytes, &received, deliver)
                    return true
                }
                received.header = Result { () throws(FrameError) in try FrameHeader(decoding: bytes) }
            case 2: received.body = [UInt8](bytes)
            default: break
            }
            part += 1
            if isLast { break }
        }
        if part > 3 { received.header = nil }
        deliver(received)
        return true
    }

    private func deliverFrames(
        of message: UnsafeRawBufferPointer, _ received: inout Received, _ deliver: @Loop (Received) -> Void
    ) {
        received.wire = .onePart
        let isWhole = FrameBundle.read(message) { frame in
            received.read(frame)
            deliver(received)
        }
        guard !isWhole else { return }
        received.header = nil
        deliver(received)
    }

    /// Closes at once, or waits up to `linger` for queued frames to be sent.
    func close(linger: Duration = .zero) {
        guard raw != nil else { return }
        watch?.cancel()
        monitor?.close()
        set(ZMQ_LINGER, Int32(linger.milliseconds))
        zmq_close(raw)
        raw = nil
    }
}
