import Foundation

/// Files of ipc sockets: a killed process leaves its own behind.
enum UnixSocket {
    enum Condition { case listening, refused, unclear }

    /// Bytes that the path of a socket may have, its end not counted.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
    /// A file so young, in seconds, may belong to a process that does not listen yet.
    private static let youth = 2.0

    /// Whether nobody listens any more; such a file is removed.
    static func isDead(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        guard Date().timeIntervalSince1970 - Double(status.st_ctim.tv_sec) > youth, condition(of: path) == .refused
        else { return false }
        return unlink(path) == 0
    }

    /// Connects once, without waiting: a stopped process with a full queue would hold the caller.
    static func condition(of path: String) -> Condition { look(at: path).condition }

    /// The process that listens there, whether it answers or not; `nil` where none does, or does not say.
    static func listener(of path: String) -> pid_t? { look(at: path).listener }

    private static func look(at path: String) -> (condition: Condition, listener: pid_t?) {
        guard path.utf8.count <= longestPath else { return (.unclear, nil) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return (.unclear, nil) }
        defer { close(descriptor) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 || errno == EAGAIN { return (.listening, peer(of: descriptor)) }
        return (errno == ECONNREFUSED || errno == ENOENT ? .refused : .unclear, nil)
    }

    private static func peer(of descriptor: Int32) -> pid_t? {
        // `ucred`, which Glibc does not show to Swift: process, user, group.
        var (credentials, length) = ([Int32](repeating: 0, count: 3), socklen_t(12))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials[0] > 0 ? credentials[0] : nil
    }

    /// Makes the path free for a new socket: a file that nobody listens on goes.
    ///
    /// - Throws: ``ZMQError`` where the path is too long, or somebody listens: libzmq would take it from him.
    static func prepare(_ path: String) throws(ZMQError) {
        guard path.utf8.count <= longestPath else {
            throw ZMQError(
                code: ENAMETOOLONG,
                call: "bind to \(path), which has \(path.utf8.count) bytes where a socket has \(longestPath)")
        }
        switch condition(of: path) {
        case .listening: throw ZMQError(code: EADDRINUSE, call: "bind to \(path)")
        case .refused: unlink(path)
        case .unclear: break
        }
    }

    /// Read and write for the owner and the group, nothing for others.
    static func restrict(_ path: String) { chmod(path, 0o660) }
}
