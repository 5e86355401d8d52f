import Foundation

/// Files of ipc sockets. A killed process leaves its file behind.
enum UnixSocket {
    enum Condition { case listening, refused, unclear }

    /// The most bytes of a socket's path, without the final zero.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
    /// A file younger than this, in seconds, may belong to a process that does not listen yet.
    private static let youth = 2.0

    /// Whether no process listens any more. Such a file can be removed.
    static func isDead(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        guard Date().timeIntervalSince1970 - Double(status.st_ctim.tv_sec) > youth, condition(of: path) == .refused
        else { return false }
        return unlink(path) == 0
    }

    /// Connects once, without waiting. A stopped process with a full queue would block the caller.
    static func condition(of path: String) -> Condition { look(at: path).condition }

    /// The process that listens there, even if it does not answer; `nil` if none listens or it is unknown.
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
        // The structure `ucred`, which Glibc does not export to Swift: process, user, group.
        var (credentials, length) = ([Int32](repeating: 0, count: 3), socklen_t(12))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials[0] > 0 ? credentials[0] : nil
    }

    /// Removes a file on which no process listens, so that a new socket can use the path.
    ///
    /// - Throws: ``ZMQError`` if the path is too long, or if a process listens there. libzmq would take the path from
    ///   that process.
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

    /// Only the owner and the group may read and write.
    static func restrict(_ path: String) { chmod(path, 0o660) }
}
