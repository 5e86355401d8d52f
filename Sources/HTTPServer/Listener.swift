import EventLoop
import Glibc

/// Why a server did not start.
package enum HTTPServerError: Error, Equatable, CustomStringConvertible {
    /// The address is not numeric (or `localhost`), or the port is not 0 to 65535.
    case invalidAddress(host: String, port: Int)
    /// Another program listens on the port.
    case portInUse(host: String, port: Int)
    /// A system call failed; `code` is `errno`.
    case system(call: String, code: Int32)

    /// A sentence for an operator.
    package var description: String {
        switch self {
        case .invalidAddress(let host, let port): "'\(host):\(port)' is not a numeric address with a port"
        case .portInUse(let host, let port): "port in use: another program listens on \(host):\(port)"
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }
}

/// A listening socket on the loop.
@Loop final class Listener {
    private var descriptor: Int32 = -1
    private var watch: FileWatch?
    private var pauseTimer: LoopTimer?
    /// Returns whether another connection may be accepted.
    private let hasRoom: @Loop () -> Bool
    /// Gets each accepted, non-blocking socket and the numeric address of its other end.
    private let onConnection: @Loop (Int32, String) -> Void
    private var waitsForRoom = false

    init(
        host: String, port: Int, sharesPort: Bool, hasRoom: @escaping @Loop () -> Bool,
        onConnection: @escaping @Loop (Int32, String) -> Void
    ) throws(HTTPServerError) {
        (self.hasRoom, self.onConnection) = (hasRoom, onConnection)
        guard let address = SocketAddress(host: host, port: port) else {
            throw .invalidAddress(host: host, port: port)
        }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        if sharesPort { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &one, 4) }
        // Accepted sockets inherit the option (tcp(7) of Linux).
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        let bound =
            address.withPointer { bind(descriptor, $0, $1) } == 0 && listen(descriptor, Int32(Self.backlog)) == 0
        guard bound else {
            let code = errno
            Glibc.close(descriptor)
            throw code == EADDRINUSE ? .portInUse(host: host, port: port) : .system(call: "bind", code: code)
        }
        self.descriptor = descriptor
        watch = FileWatch(descriptor, for: .read) { [weak self] _ in self?.acceptReady() }
    }

    isolated deinit { close() }

    /// The port that the socket listens on. If the owner asked for port 0, it is the port that the system chose.
    var port: Int { SocketAddress { getsockname(descriptor, $0, &$1) }?.port ?? 0 }

    func close() {
        watch?.cancel()
        watch = nil
        pauseTimer?.cancel()
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Accepts connections again after a time without room.
    func resume() {
        guard waitsForRoom else { return }
        waitsForRoom = false
        watch?.update(.read)
    }

    /// Accepts all connections in the kernel's queue. Call it before closing, which would reset them.
    func acceptRest() {
        if descriptor >= 0, watch != nil { acceptReady(atMost: Self.backlog) }
    }

    /// The length of the kernel's queue of connections that were not accepted yet.
    private static let backlog = 1024

    private func acceptReady(atMost most: Int = 64) {
        for _ in 0..<most {
            guard hasRoom() else {
                waitsForRoom = true
                watch?.update([])
                return
            }
            var accepted: Int32 = -1
            let peer = SocketAddress { address, length in
                accepted = acceptWithoutBlocking(descriptor, address, &length)
                return accepted
            }
            guard let peer else { return pauseAfter(errno) }
            onConnection(accepted, peer.host)
        }
    }

    /// Pauses if no descriptor is free: the socket stays readable, so the loop would try again at once.
    private func pauseAfter(_ code: Int32) {
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) else { return }
        watch?.update([])
        pauseTimer = LoopTimer(after: .milliseconds(100)) { [weak self] in self?.watch?.update(.read) }
    }
}
