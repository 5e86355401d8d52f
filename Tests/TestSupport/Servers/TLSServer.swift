import Foundation
import Synchronization

/// A certificate authority of a test, and the certificates that it issues.
package struct TestAuthority: Sendable {
    private let folder: String
    /// The path of the authority's certificate.
    package var certificate: String { "\(folder)/ca.pem" }

    package init() throws {
        folder = "/tmp/vestibule-ca-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try OpenSSL.run(
            ["req", "-x509"] + Self.newKey("\(folder)/ca.key") + [
                "-out", certificate, "-days", "1", "-subj", "/CN=Test authority",
                "-addext", "basicConstraints=critical,CA:TRUE",
            ])
    }

    private static func newKey(_ file: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file]
    }

    /// Issues a certificate for a host, with its key.
    package func issue(for host: String) throws -> (certificate: String, key: String) {
        let base = "\(folder)/\(host)"
        _ = try OpenSSL.run(
            ["req"] + Self.newKey("\(base).key") + ["-out", "\(base).csr", "-subj", "/CN=\(host)"])
        try "subjectAltName=DNS:\(host)\n".write(toFile: "\(base).ext", atomically: true, encoding: .utf8)
        _ = try OpenSSL.run([
            "x509", "-req", "-in", "\(base).csr", "-CA", certificate, "-CAkey", "\(folder)/ca.key", "-CAcreateserial",
            "-out", "\(base).pem", "-days", "1", "-extfile", "\(base).ext",
        ])
        return ("\(base).pem", "\(base).key")
    }

    package func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

/// An HTTPS server of another implementation (`openssl s_server`). It answers each request with 200.
package final class TLSServer: Sendable {
    package let port: Int
    private let process: Process
    private let received = Mutex<[UInt8]>([])

    package init(_ certificate: (certificate: String, key: String)) throws {
        let free = try Self.freePort()
        let (process, stdin, stdout) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "s_server", "-quiet", "-accept", "127.0.0.1:\(free)", "-cert", certificate.certificate, "-key",
            certificate.key,
        ]
        (process.standardInput, process.standardOutput) = (stdin, stdout)
        process.standardError = FileHandle.nullDevice
        try process.run()
        (port, self.process) = (free, process)
        let (requests, answers) = (stdout.fileHandleForReading, stdin.fileHandleForWriting)
        Thread.detachNewThread { [self] in serve(requests, answers) }
    }

    /// All received text, decrypted.
    package var text: String { received.withLock { String(decoding: $0, as: UTF8.self) } }

    package func stop() {
        // A thread of a pool starts the child with blocked signals, so only SIGKILL ends it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Serves requests. A request ends with its JSON body.
    private func serve(_ requests: FileHandle, _ answers: FileHandle) {
        var request: [UInt8] = []
        while true {
            let more = Array(requests.availableData)
            guard !more.isEmpty else { return }
            received.withLock { $0 += more }
            request += more
            guard request.last == UInt8(ascii: "}") else { continue }
            request = []
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            try? answers.write(contentsOf: Data(answer.utf8))
        }
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw ScratchCluster.Failure(description: "there is no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
