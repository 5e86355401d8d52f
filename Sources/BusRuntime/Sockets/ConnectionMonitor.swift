import CZMQ
import EventLoop

/// A change of a socket's connection.
enum ConnectionChange {
    case established, lost
    /// The other side does not know our key, perhaps not yet. Or it has another key than it should.
    case refused
}

/// Learns from libzmq when a socket's connection is open, lost or refused.
///
/// Otherwise only silence would reveal that a replica was killed. The calls in flight to that replica would wait
/// meanwhile.
@Loop final class ConnectionMonitor {
    private static var made = 0

    private let observed: UnsafeMutableRawPointer
    private var raw: UnsafeMutableRawPointer?
    private var watch: FileWatch?
    private let onChange: @Loop (ConnectionChange) -> Void

    /// - Parameter observed: the socket. It must be closed after its monitor.
    init(of observed: UnsafeMutableRawPointer, _ onChange: @escaping @Loop (ConnectionChange) -> Void) throws(ZMQError)
    {
        self.observed = observed
        self.onChange = onChange
        Self.made += 1
        let endpoint = "inproc://connection-monitor-\(Self.made)"
        guard zmq_socket_monitor(observed, endpoint, Self.events) == 0 else { throw .last("zmq_socket_monitor") }
        guard let raw = zmq_socket(ZMQContext.shared, ZMQ_PAIR) else { throw .last("zmq_socket") }
        self.raw = raw
        var (descriptor, length) = (Int32(-1), MemoryLayout<Int32>.size)
        guard zmq_connect(raw, endpoint) == 0, zmq_getsockopt(raw, ZMQ_FD, &descriptor, &length) == 0 else {
            throw .last("connect to \(endpoint)")
        }
        // The descriptor reports only changes, and only `drain` reads the socket. So the loop needs no extra poll of
        // the socket at every turn.
        watch = FileWatch(descriptor, for: .read) { [weak self] _ in self?.drain() }
        drain()
    }

    isolated deinit { close() }

    private static let refusals =
        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
    private static let events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | refusals

    private func drain() {
        while let event = next().map({ Int32($0) }) {
            let isRefusal = event & Self.refusals != 0
            onChange(isRefusal ? .refused : event & ZMQ_EVENT_DISCONNECTED != 0 ? .lost : .established)
        }
    }

    /// The number of the next event. The message begins with it, in the machine's byte order.
    private func next() -> UInt16? {
        guard raw != nil else { return nil }
        var event: UInt16?
        var message = zmq_msg_t()
        while true {
            zmq_msg_init(&message)
            defer { zmq_msg_close(&message) }
            guard zmq_msg_recv(&message, raw, ZMQ_DONTWAIT) >= 0 else { return nil }
            if event == nil, zmq_msg_size(&message) >= 2 {
                event = zmq_msg_data(&message)?.loadUnaligned(as: UInt16.self)
            }
            if zmq_msg_more(&message) == 0 { return event }
        }
    }

    func close() {
        guard let raw else { return }
        watch?.cancel()
        zmq_socket_monitor(observed, nil, 0)
        zmq_close(raw)
        self.raw = nil
    }
}
