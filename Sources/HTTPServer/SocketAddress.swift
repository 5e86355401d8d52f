import Glibc

/// A numeric address: the address to listen on, or that of a connection's other end.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    /// - Parameter host: an IPv4 or IPv6 address, or `localhost`. Names are not looked up, since that blocks.
    init?(host: String, port: Int) {
        guard (0...65535).contains(port) else { return nil }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host == "localhost" ? "127.0.0.1" : host, String(port), &hints, &found) == 0,
            let first = found
        else { return nil }
        defer { freeaddrinfo(found) }
        length = first.pointee.ai_addrlen
        memcpy(&storage, first.pointee.ai_addr, Int(length))
    }

    /// Makes an address with a system call.
    ///
    /// - Parameter body: gets space for an address and its length, and returns the result of the system call.
    init?(filledBy body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) {
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var length = length
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
        guard result >= 0 else { return nil }
        self.length = length
    }

    var family: Int32 { Int32(storage.ss_family) }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private func numeric(_ flags: Int32) -> (host: String, port: String) {
        var (host, port) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 8))
        _ = withPointer { address, length in
            getnameinfo(address, length, &host, 64, &port, 8, flags | NI_NUMERICHOST | NI_NUMERICSERV)
        }
        let text = { (characters: [CChar]) in
            String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        return (text(host), text(port))
    }

    var port: Int { Int(numeric(0).port) ?? 0 }

    /// The numeric address. An IPv4 address of an IPv6 socket is written as IPv4, so that an address has one spelling.
    var host: String {
        let host = numeric(0).host
        return host.hasPrefix("::ffff:") && host.contains(".") ? String(host.dropFirst(7)) : host
    }
}
