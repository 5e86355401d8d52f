import CZMQ
import EventLoop

/// Tells libzmq whether a key may connect.
///
/// libzmq requires one authenticator per process. Each server socket has its own domain. Source: ZAP, RFC 27 of the
/// ZeroMQ project.
@Loop final class Authenticator {
    private static var known: Authenticator?

    private let raw: UnsafeMutableRawPointer
    private var watch: FileWatch?
    private var domains: [String: BusSecurity] = [:]

    /// It must be bound before the first socket that needs it. Without it, libzmq would accept every key. With the
    /// options of the sockets here, it would accept none.
    static func shared() throws(ZMQError) -> Authenticator {
        if let known { return known }
        let made = try Authenticator()
        known = made
        return made
    }

    private init() throws(ZMQError) {
        guard let raw = zmq_socket(ZMQContext.shared, ZMQ_ROUTER) else { throw .last("zmq_socket") }
        self.raw = raw
        var (descriptor, length) = (Int32(-1), MemoryLayout<Int32>.size)
        guard zmq_bind(raw, "inproc://zeromq.zap.01") == 0,
            zmq_getsockopt(raw, ZMQ_FD, &descriptor, &length) == 0
        else { throw .last("bind to inproc://zeromq.zap.01") }
        // The descriptor reports only changes, and only `drain` reads the socket.
        watch = FileWatch(descriptor, for: .read) { [weak self] _ in self?.drain() }
    }

    func add(_ domain: String, _ security: BusSecurity) { domains[domain] = security }
    func remove(_ domain: String) { domains[domain] = nil }

    private func drain() {
        while let parts = receive() { answer(parts) }
    }

    private func receive() -> [[UInt8]]? {
        var (parts, message) = ([[UInt8]](), zmq_msg_t())
        while true {
            zmq_msg_init(&message)
            defer { zmq_msg_close(&message) }
            guard zmq_msg_recv(&message, raw, ZMQ_DONTWAIT) >= 0 else { return nil }
            parts.append([UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message))))
            if zmq_msg_more(&message) == 0 { return parts }
        }
    }

    /// The parts are the routing ID, an empty part, version, request ID, domain, address, identity, mechanism and
    /// credentials.
    private func answer(_ parts: [[UInt8]]) {
        guard parts.count >= 4, parts[1].isEmpty else { return }
        let identity = parts.count == 9 ? identity(of: parts) : nil
        // Status 300 means "not now". After 400 or 500 the client's socket would never connect again, even if its key
        // is allowed later.
        let (status, user) = identity.map { ("200", String($0)) } ?? ("300", "")
        send([parts[0], [], Array("1.0".utf8), parts[3], Array(status.utf8), [], Array(user.utf8), []])
    }

    private func identity(of parts: [[UInt8]]) -> BusSecurity.Identity? {
        let domain = String(decoding: parts[4], as: UTF8.self)
        guard parts[2].elementsEqual("1.0".utf8), parts[7].elementsEqual("CURVE".utf8),
            let key = parts[8].withUnsafeBytes({ BusKey($0) })
        else { return nil }
        return domains[domain]?.admit(key)
    }

    private func send(_ parts: [[UInt8]]) {
        for (index, part) in parts.enumerated() {
            zmq_send(raw, part, part.count, ZMQ_DONTWAIT | (index < parts.count - 1 ? ZMQ_SNDMORE : 0))
        }
    }
}
