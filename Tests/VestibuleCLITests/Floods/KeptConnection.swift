import Foundation
import JSONText

@testable import VestibuleCLI

/// One connection that is kept from request to request, so that a request's time has no connecting in it.
final class KeptConnection {
    private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)

    init(_ client: HTTPClient) throws {
        var one = Int32(1)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let address = HTTPClient.addresses(client.host, client.port)[0]
        let connected = HTTPClient.on(address) { connect(descriptor, $0, $1) }
        guard connected == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// - Returns: the answer, and the nanoseconds from the request's first byte to the answer's last one.
    func send(
        _ method: String, _ path: String, token: String? = nil, body: JSONValue? = nil
    ) throws -> (answer: HTTPAnswer, nanoseconds: UInt64) {
        let sent = body.map { CanonicalJSON.bytes(of: $0) } ?? []
        var head = "\(method) \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(sent.count)\r\n"
        if let token { head += "Authorization: Bearer \(token)\r\n" }
        if body != nil { head += "Content-Type: application/json\r\n" }
        let request = Array((head + "\r\n").utf8) + sent
        let began = DispatchTime.now().uptimeNanoseconds
        guard Foundation.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw POSIXError(.EPIPE)
        }
        let (lines, content) = try receive()
        let took = DispatchTime.now().uptimeNanoseconds - began
        let fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (String(name), line.dropFirst(name.count + 2).description)
        }
        let answer = HTTPAnswer(
            status: Int(lines[0].split(separator: " ")[1]) ?? 0, headers: Dictionary(fields) { $0 + ", " + $1 },
            bytes: content)
        return (answer, took)
    }

    /// - Returns: the lines of the answer's head in lower case, and its body.
    private func receive() throws -> ([String], [UInt8]) {
        var (bytes, room) = ([UInt8](), [UInt8](repeating: 0, count: 16_384))
        while true {
            let count = recv(descriptor, &room, room.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw POSIXError(.ECONNRESET) }
            bytes += room[..<count]
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
                .components(separatedBy: "\r\n")
            let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
            guard bytes.count >= end.upperBound + length else { continue }
            return (lines, Array(bytes[end.upperBound...]))
        }
    }
}
