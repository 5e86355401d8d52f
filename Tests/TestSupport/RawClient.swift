import EventLoop
import Foundation

/// A connection that sends any given bytes. It is closed together with this object.
package final class RawClient: Sendable {
    private let descriptor: Int32
    /// The server, which must live as long as this client.
    private let server: (any Sendable)?

    /// - Parameter source: the address to connect from. All addresses of 127.0.0.0/8 belong to this machine.
    package init(
        port: Int, receiveBuffer: Int32? = nil, from source: String = "127.0.0.1", of server: (any Sendable)? = nil
    ) throws {
        self.server = server
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let isConnected =
            Self.with(source, port: 0) { bind(descriptor, $0, $1) } == 0
            && Self.with("127.0.0.1", port: port) { connect(descriptor, $0, $1) } == 0
        guard isConnected else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    private static func with(
        _ host: String, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close(descriptor) }

    /// Sends text as UTF-8.
    package func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Sends bytes.
    package func send(_ bytes: [UInt8]) async throws {
        try await Loop.offload { [descriptor] in
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Foundation.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                sent += count
            }
        }
    }

    /// Closes the sending half of the connection.
    package func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads all text up to the end of the connection.
    package func readToEnd() async throws -> String { try await read(until: nil) }

    /// Reads all text until `marker` has arrived.
    package func read(until marker: String) async throws -> String { try await read(until: Optional(marker)) }

    private func read(until marker: String?) async throws -> String {
        try await Loop.offload { [descriptor] in
            var bytes: [UInt8] = []
            var room = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(descriptor, &room, room.count, 0)
                if count < 0, errno == EINTR { continue }
                if count < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                bytes.append(contentsOf: room[..<count])
                guard count == 0 || marker != nil else { continue }
                let text = String(decoding: bytes, as: UTF8.self)
                if count == 0 || marker.map(text.contains) == true { return text }
            }
        }
    }
}
