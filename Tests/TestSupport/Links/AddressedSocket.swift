import Foundation

/// Connections from any loopback address of this machine, 127.0.0.0/8.
package enum AddressedSocket {
    /// - Returns: a descriptor, or -1 if the connection fails.
    package static func open(_ port: Int, from source: String, waits: Bool = true) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, waits ? kind : kind | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return -1 }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let isOpen =
            with(source, 0) { bind(descriptor, $0, $1) } == 0
            && (with("127.0.0.1", UInt16(port)) { connect(descriptor, $0, $1) } == 0 || errno == EINPROGRESS)
        guard isOpen else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    /// The status of `GET path` on a new connection; 0 if no answer comes.
    package static func status(_ port: Int, from source: String, _ path: String, _ headers: String = "") -> Int {
        let descriptor = open(port, from: source)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(headers)\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return 0 }
        var (answer, room) = ([UInt8](), [UInt8](repeating: 0, count: 16_384))
        while true {
            let count = recv(descriptor, &room, room.count, 0)
            guard count > 0 else { break }
            answer += room[..<count]
        }
        return Int(String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
    }

    /// Whether the other end has neither closed the connection nor sent anything.
    package static func isOpen(_ descriptor: Int32) -> Bool {
        guard descriptor >= 0 else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    private static func with(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port.bigEndian)
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
