import Foundation

/// A free port of 127.0.0.1 for the replicas of one service, which all listen on it.
///
/// This socket does not listen. It keeps the port for the system while no replica runs.
final class SharedPort {
    /// The address with the port.
    let address: String
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var (on, own, length) = (Int32(1), sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = inet_addr("127.0.0.1")
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, 4)
        let isBound = withUnsafeMutablePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        self.descriptor = descriptor
        address = "127.0.0.1:\(UInt16(bigEndian: own.sin_port))"
        guard isBound else {
            throw CommandError.unavailable("cannot reserve a port: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }
}
