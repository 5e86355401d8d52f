import BusProtocol
import EventLoop
import Foundation

/// How the replicas of a service are found.
package enum Discovery: Sendable, Equatable {
    /// A fixed list of endpoints, `tcp://10.0.0.1:7000` or `ipc:///run/bus/auth.sock`, numeric addresses only.
    case endpoints([String])
    /// Every address of a name, resolved again every second.
    case dns(host: String, port: Int)
    /// The sockets `<service>-*.sock` of a private directory.
    case directory(String)

    /// Why a text does not describe a way to find replicas.
    package struct ParseError: Error, Sendable, CustomStringConvertible {
        package let description: String
        /// Takes the reason.
        package init(description: String) { self.description = description }
    }

    /// - Parameter text: `ipc:/run/bus` (a directory), `dns:auth:7000`, or endpoints separated by commas.
    package init(_ text: String) throws(ParseError) {
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
            guard !list.isEmpty, list.allSatisfy({ Self.isNumeric($0) || $0.hasPrefix("ipc:///") }) else {
                throw ParseError(
                    description:
                        "expected ipc:/DIRECTORY, dns:HOST:PORT or a list of tcp://ADDRESS:PORT with numeric addresses")
            }
            self = .endpoints(list)
        }
    }

    /// libzmq would resolve names on its own thread and stall every socket of the process.
    private static func isNumeric(_ endpoint: String) -> Bool {
        guard let rest = endpoint.dropping("tcp://"), let colon = rest.lastIndex(of: ":"),
            let port = Int(rest[rest.index(after: colon)...]), (1...65535).contains(port)
        else { return false }
        var host = String(rest[..<colon])
        var buffer = in6_addr()
        guard host.hasPrefix("["), host.hasSuffix("]") else { return inet_pton(AF_INET, host, &buffer) == 1 }
        host = String(host.dropFirst().dropLast())
        return inet_pton(AF_INET6, host, &buffer) == 1
    }

    var isDirectory: Bool { if case .directory = self { true } else { false } }

    /// About the time between two discoveries.
    func interval(_ shortest: Duration) -> Duration {
        switch self {
        case .directory: shortest
        // A list never changes. The pool reads it again because a replica's socket may have failed to open.
        case .endpoints: max(shortest, .seconds(5))
        case .dns: max(shortest, .seconds(1))
        }
    }

    /// Finds the replicas now. It may block, so it runs off the loop.
    ///
    /// - Parameter alive: endpoints that answer. Their files need no check.
    /// - Returns: `nil` if the discovery failed. The replicas found before are then kept.
    func look(for service: String, alive: Set<String>) -> Set<String>? {
        switch self {
        case .endpoints(let list): Set(list)
        case .dns(let host, let port): Self.resolve(host, port)
        case .directory(let path): Self.sockets(of: service, in: path, alive: alive)
        }
    }

    /// Every endpoint of a service, including dead ones, for tools that do not call it. It may block.
    ///
    /// - Returns: `nil` if the discovery failed.
    package func everyEndpoint(of service: ServiceName) -> Set<String>? {
        guard case .directory(let path) = self else { return look(for: service.rawValue, alive: []) }
        return Self.files(of: service.rawValue, in: path).map { Set($0.map { "ipc://\($0)" }) }
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

    private static func files(of service: String, in path: String) -> [String]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return nil }
        return names.filter { $0.hasPrefix(service + "-") && $0.hasSuffix(".sock") }.map { "\(path)/\($0)" }
    }

    private static func sockets(of service: String, in path: String, alive: Set<String>) -> Set<String>? {
        guard let files = files(of: service, in: path) else { return nil }
        return Set(files.map { "ipc://\($0)" }.filter { alive.contains($0) || !UnixSocket.isDead($0.droppingScheme) })
    }
}

extension String {
    fileprivate func dropping(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }

    fileprivate var droppingScheme: String { dropping("ipc://") ?? self }
}
