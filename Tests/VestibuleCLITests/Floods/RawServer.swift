import Foundation

@testable import VestibuleCLI

/// Answers one connection with fixed bytes, and keeps what it was sent.
final class RawServer: @unchecked Sendable {
    let port: UInt16
    private let listener: Int32
    private let answer: [UInt8]
    // `lock` protects `received`.
    private let lock = NSLock()
    private var received: [UInt8] = []

    var request: String { lock.withLock { String(decoding: received, as: UTF8.self) } }

    /// Listens at a free port; `accept` answers.
    init(answer: String) throws {
        (listener, port) = try Self.listenAtFreePort()
        self.answer = Array(answer.utf8)
    }

    deinit { close(listener) }

    static func listenAtFreePort() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = HTTPClient.addresses("127.0.0.1", 0)[0]
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) | listen(descriptor, 4) | getsockname(descriptor, pointer, &size)
            }
        }
        guard result == 0 else { throw CommandError("no port is free") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Serves one connection on a thread of its own.
    func serveOnce() {
        Thread { [self] in
            let connection = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(connection, &buffer, buffer.count, 0)
            lock.withLock { received = Array(buffer.prefix(max(0, count))) }
            _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
            close(connection)
        }.start()
    }
}
