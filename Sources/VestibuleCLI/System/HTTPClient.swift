import Foundation
import JSONText

/// A small blocking HTTP client for one server. It makes a connection per request and reads responses strictly.
struct HTTPClient {
    /// A numeric address, or a name. The client looks a name up for each connection, since the replicas behind it come
    /// and go.
    let host: String
    let port: UInt16
    /// How many seconds to wait for the next byte of the response.
    private let patience: Int
    /// The address of this machine that connections come from; `nil` leaves it to the system.
    private let source: String?

    /// - Parameters:
    ///   - address: such as `127.0.0.1:8080`, `verification:8080` or `http://127.0.0.1:8080`.
    ///   - source: the address of this machine that connections come from.
    init(_ address: String, from source: String? = nil, patience: Int = 15) throws {
        let plain = address.hasPrefix("http://") ? String(address.dropFirst(7)) : address
        let parts = plain.split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1]), port > 0, !plain.hasPrefix(":") else {
            throw CommandError.usage("\(address) is not an address: expected HOST:PORT")
        }
        (self.host, self.port, self.patience, self.source) = (String(parts[0]), port, patience, source)
    }

    /// - Throws: ``CommandError`` if nothing answers, or if the answer is not HTTP.
    func send(
        _ method: String, _ path: String, body: JSONValue? = nil, headers: [String: String] = [:]
    ) throws -> HTTPAnswer {
        try send(
            method, path, bytes: body.map { CanonicalJSON.bytes(of: $0) } ?? [],
            contentType: body == nil ? nil : "application/json", headers: headers)
    }

    /// Sends bytes of any kind.
    ///
    /// - Parameter contentType: `nil` for no body.
    /// - Throws: ``CommandError`` if nothing answers, or if the answer is not HTTP.
    func send(
        _ method: String, _ path: String, bytes: [UInt8], contentType: String?, headers: [String: String] = [:]
    ) throws -> HTTPAnswer {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: \(host):\(port)", "Connection: close"]
        if let contentType { lines.append("Content-Type: \(contentType)") }
        if contentType != nil || method != "GET" { lines.append("Content-Length: \(bytes.count)") }
        lines += headers.map { "\($0.key): \($0.value)" }
        return try parse(try exchange(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + bytes))
    }

    /// Connects to the first address of the host that accepts the connection. The caller closes it.
    private func connection() throws -> Int32 {
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        for address in Self.addresses(host, port) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            // The second option limits the time of connecting, too. Nothing answers at the address of a removed
            // container.
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
            }
            if let source {
                guard let own = Self.addresses(source, 0).first, Self.on(own, { bind(descriptor, $0, $1) }) == 0 else {
                    close(descriptor)
                    throw CommandError.unavailable("\(source) is no address of this machine")
                }
            }
            if Self.on(address, { connect(descriptor, $0, $1) }) == 0 { return descriptor }
            close(descriptor)
        }
        throw CommandError.unavailable("nobody answers at \(host):\(port)")
    }

    private func exchange(_ request: [UInt8]) throws -> [UInt8] {
        let descriptor = try connection()
        defer { close(descriptor) }
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw CommandError.unavailable("the connection to \(host):\(port) broke") }
            sent += count
        }
        var (received, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return received }
            // If a signal stops and continues the command, a read with a timeout is interrupted.
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw CommandError.unavailable("\(host):\(port) did not answer in time") }
            received += buffer.prefix(count)
        }
    }

    /// The IPv4 addresses of a host, in the system's order; empty for an unknown name.
    static func addresses(_ host: String, _ port: UInt16) -> [sockaddr_in] {
        var wanted = addrinfo()
        wanted.ai_family = AF_INET
        wanted.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &wanted, &found) == 0 else { return [] }
        defer { freeaddrinfo(found) }
        var (addresses, next) = ([sockaddr_in](), found)
        while let entry = next?.pointee {
            addresses.append(UnsafeRawPointer(entry.ai_addr).loadUnaligned(as: sockaddr_in.self))
            next = entry.ai_next
        }
        return addresses
    }

    /// Calls a function of the system that takes a socket address.
    static func on<Result>(_ address: sockaddr_in, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func parse(_ bytes: [UInt8]) throws -> HTTPAnswer {
        guard let head = try? HTTPAnswerHead(bytes), bytes.count == head.length + head.bodyLength else {
            throw CommandError.unavailable("\(host):\(port) does not answer in HTTP")
        }
        return HTTPAnswer(status: head.status, headers: head.headers, bytes: Array(bytes[head.length...]))
    }
}
