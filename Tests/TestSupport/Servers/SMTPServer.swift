import Foundation
import Synchronization

/// A small SMTP server on this machine, in place of an operator's relay. The test can set its reply to a command.
/// Otherwise it takes every message. It keeps all commands and messages.
package final class SMTPServer: Sendable {
    /// The commands and the message of one connection.
    package struct Delivery: Sendable {
        package var commands: [String] = []
        /// The message without dot-stuffing and the final dot, with `\n` between lines; `nil` if none arrived.
        package var message: String?
    }

    package let port: Int
    private let listener: Int32
    /// The replies by the verb of the command. The verb `CONNECT` is for the greeting, and `.` for the message. An
    /// empty text means no reply.
    private let replies: Mutex<[String: String]>
    private let kept = Mutex<[Delivery]>([])
    private let taken = Mutex<[String]>([])

    package init(replies: [String: String] = [:]) throws {
        self.replies = Mutex(replies)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isOpen else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in accept() }
    }

    /// The connections that have ended.
    package var deliveries: [Delivery] { kept.withLock { $0 } }
    /// The messages so far. Each is here before its sender reads the reply that accepts it.
    package var messages: [String] { taken.withLock { $0 } }

    /// Changes the reply to a command from now on.
    package func reply(to verb: String, _ reply: String?) { replies.withLock { $0[verb] = reply } }

    /// Stops listening. Connections go on.
    package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func accept() {
        while case let client = Foundation.accept(listener, nil, nil), client >= 0 {
            Thread.detachNewThread { [self] in serve(client) }
        }
        close(listener)
    }

    private func serve(_ client: Int32) {
        defer { close(client) }
        var delivery = Delivery()
        defer { kept.withLock { $0.append(delivery) } }
        say(replies.withLock { $0["CONNECT"] } ?? "220 relay.test ESMTP", to: client)
        while let line = readLine(client) {
            delivery.commands.append(line)
            let verb = line.prefix { $0 != " " && $0 != ":" }.uppercased()
            let told = replies.withLock { $0[verb] }
            say(told ?? Self.usual[verb] ?? "250 2.0.0 OK", to: client)
            if verb == "QUIT" { return }
            if verb == "DATA", told == nil {
                delivery.message = readMessage(client)
                taken.withLock { $0 += [delivery.message].compactMap(\.self) }
                say(replies.withLock { $0["."] } ?? "250 2.0.0 queued", to: client)
            }
        }
    }

    private static let usual = [
        "EHLO": "250-relay.test\r\n250-SMTPUTF8\r\n250 AUTH PLAIN LOGIN", "AUTH": "235 2.7.0 welcome",
        "DATA": "354 go ahead", "QUIT": "221 bye",
    ]

    private func say(_ reply: String, to client: Int32) {
        guard !reply.isEmpty else { return }
        let bytes = Array("\(reply)\r\n".utf8)
        _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// A line without its end; `nil` at the end of the connection.
    private func readLine(_ client: Int32) -> String? {
        var (line, byte) = ([UInt8](), UInt8(0))
        while recv(client, &byte, 1, 0) == 1 {
            if byte == UInt8(ascii: "\n") {
                return String(decoding: line, as: UTF8.self).trimmingCharacters(in: ["\r"])
            }
            line.append(byte)
        }
        return nil
    }

    private func readMessage(_ client: Int32) -> String? {
        var lines: [String] = []
        while let line = readLine(client) {
            if line == "." { return lines.joined(separator: "\n") }
            lines.append(line.hasPrefix(".") ? String(line.dropFirst()) : line)
        }
        return nil
    }
}
