import EventLoop
import Foundation

/// How the replicas of a service are found.
public enum Discovery: Sendable, Equatable {
    /// A fixed list of endpoints, `tcp://10.0.0.1:7000` or `ipc:///run/bus/auth.sock`, numeric addresses only.
    case endpoints([String])
    /// Every address that a name has, asked again each second.
    case dns(host: String, port: Int)
    /// The sockets `<service>-*.sock` of a private directory.
    case directory(String)

    public struct ParseError: Error, Sendable, CustomStringConvertible {
        public let description: String
        public init(description: String) { self.description = description }
    }

    /// - Parameter text: `ipc:/run/bus` (a directory), `dns:auth:7000`, or endpoints separated by commas.
    public init(_ text: String) throws(ParseError) {
        if let rest = text.dropping("dns:") {
            let parts = rest.split(separator: ":")
            guard parts.count == 2, let port = Int(parts[1]), (1...65535).contains(port) else {
                throw ParseError(description: "expected dns:HOST:PORT")
            }
            self = .dns(host: String(parts[0]), port: port)
        } else if let directory = text.dropping("ipc:"), !directory.hasPrefix("//") {
            guard directory.hasPrefix("/") else { throw ParseError(description: "expected ipc:/DIRECTORY") }
            self = .directory(directory)
        } else {
            let list = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            guard !list.isEmpty, list.allSatisfy({ $0.hasPrefix("tcp://") || $0.hasPrefix("ipc:///") }) else {
                throw ParseError(description: "expected ipc:/DIRECTORY, dns:HOST:PORT or a list of tcp:// endpoints")
            }
            self = .endpoints(list)
        }
    }

    /// Looks now. May block: it runs off the loop.
    ///
    /// - Returns: `nil` where the look failed, which says nothing about the replicas: the last good set stays.
    func look(for service: String) -> Set<String>? {
        switch self {
        case .endpoints(let list): Set(list)
        case .dns(let host, let port): Self.resolve(host, port)
        case .directory(let path): Self.sockets(of: service, in: path)
        }
    }

    private static func resolve(_ host: String, _ port: Int) -> Set<String>? {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return nil }
        defer { freeaddrinfo(list) }
        var found: Set<String> = []
        var next = list
        while let info = next {
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                info.pointee.ai_addr, info.pointee.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
                == 0
            {
                let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                found.insert(text.contains(":") ? "tcp://[\(text)]:\(port)" : "tcp://\(text):\(port)")
            }
            next = info.pointee.ai_next
        }
        return found
    }

    private static func sockets(of service: String, in path: String) -> Set<String>? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return nil }
        let files = names.filter { $0.hasPrefix(service + "-") && $0.hasSuffix(".sock") }.map { "\(path)/\($0)" }
        return Set(files.filter { !UnixSocket.removeIfRefused($0) }.map { "ipc://\($0)" })
    }
}

/// Files of ipc sockets: a killed process leaves its own behind.
enum UnixSocket {
    /// Bytes that the path of a socket may have, its end not counted.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Connects once; where nobody listens any more the file is removed.
    static func removeIfRefused(_ path: String) -> Bool {
        guard path.utf8.count <= longestPath else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result != 0, errno == ECONNREFUSED else { return false }
        return unlink(path) == 0
    }
}

extension String {
    fileprivate func dropping(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}

extension UnixSocket {
    /// Read and write for the owner and the group, nothing for others.
    static func restrict(_ path: String) { chmod(path, 0o660) }
}
