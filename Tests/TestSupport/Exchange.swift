import EventLoop
import Foundation
import JSONText

/// One request on its own connection, sent as bytes, and its answer.
package struct Exchange: Sendable {
    package let status: Int
    package let headers: [String: String]
    package let body: [UInt8]

    package init(port: Int, request: String) async throws {
        try await self.init(port: port, bytes: Array(request.utf8))
    }

    package init(port: Int, bytes request: [UInt8]) async throws {
        // A client has its own thread, because many clients wait at once and the pool's threads are part of the test.
        let bytes: [UInt8] = try await withUnsafeThrowingContinuation { continuation in
            DispatchQueue(label: "client").async {
                continuation.resume(with: Result { try Self.exchange(port, request) })
            }
        }
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { throw POSIXError(.EPROTO) }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        status = Int(lines[0].split(separator: " ")[1]) ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.components(separatedBy: ": ")
            headers[parts[0]] = parts.dropFirst().joined(separator: ": ")
        }
        self.headers = headers
        body = Array(bytes[end.upperBound...])
    }

    /// The body as JSON; `null` if it is not JSON.
    package var json: JSONValue {
        (try? JSONValue.parse(body, limits: JSONLimits(depth: 64, values: 100_000))) ?? .null
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    private static func exchange(_ port: Int, _ request: [UInt8]) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        var (answer, room) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = recv(descriptor, &room, room.count, 0)
            // If the process is stopped and continued, a call with a timeout is interrupted.
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            if count == 0 { return answer }
            answer += room[..<count]
        }
    }
}
