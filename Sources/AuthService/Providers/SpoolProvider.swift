import BusProtocol
import EventLoop
import Foundation
import JSONText
import ProviderHTTP

/// The development provider. It writes one JSON object a line to `sms.jsonl`, `email.jsonl` and `push.jsonl` in a
/// folder.
struct SpoolProvider: Sendable {
    let folder: String

    /// Appends a line with one write, off the loop.
    func append(_ file: String, _ line: some JSONCoded) async throws {
        let path = "\(folder)/\(file)"
        let bytes = line.jsonBytes + [UInt8(ascii: "\n")]
        try await Loop.offload {
            let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
            defer { close(descriptor) }
            guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
                throw CocoaError(.fileWriteOutOfSpace)
            }
        }
    }
}

extension SpoolProvider: MessageProvider {
    var name: String { "spool" }

    @Loop func send(_ message: OutgoingMessage, within limit: Duration) async throws(MessageError) {
        do {
            try await append(message.subject == nil ? "sms.jsonl" : "email.jsonl", message.webhook)
        } catch { throw .notTaken(host: nil, ProviderFailure("spool_not_written")) }
    }
}

extension SpoolProvider: PushProvider {
    @Loop func send(_ push: OutgoingPush, within limit: Duration) async throws(PushError) {
        do {
            try await append("push.jsonl", push.message)
        } catch { throw .notTaken(reason: "spool_not_written", retryAfter: nil) }
    }
}
