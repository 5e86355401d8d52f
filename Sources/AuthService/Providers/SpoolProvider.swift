import BusProtocol
import Cryptography
import Database
import EventLoop
import Foundation
import JSONText
import ServiceRuntime

/// The development provider: one JSON object a line, in `sms.jsonl` and `push.jsonl` of a folder.
struct SpoolProvider: Sendable {
    let folder: String

    /// Appends one line with one write, off the loop.
    func append(_ file: String, _ line: JSONValue) async throws {
        let path = "\(folder)/\(file)"
        let bytes = CanonicalJSON.bytes(of: line) + [UInt8(ascii: "\n")]
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

/// Sends pushes and tells recovery what became of each.
struct PushSender: Sendable {
    let house: ServiceHouse
    let secrets: Secrets
    let spool: SpoolProvider

    @Loop func send(_ item: OutboxItem) async throws {
        let push = try WireJSON.decode(PushMessage.self, from: item.payload)
        let rows = try await house.database.read(
            "SELECT push_token_sealed FROM devices WHERE id = $1", [.uuid(push.deviceID)])
        guard let sealed = try rows.first?.optionalBytes("push_token_sealed") else { return }
        let token = try secrets.pushSealer.open(sealed, associated: push.deviceID.array)
        try await spool.append(
            "push.jsonl",
            [
                "id": .string(item.id.description), "userId": .string(push.personID.description),
                "deviceId": .string(push.deviceID.description),
                "pushToken": .string(String(decoding: token, as: UTF8.self)),
                "title": .string(push.title), "body": .string(push.body),
                "data": .object(push.data.mapValues { .string($0) }), "at": .string(Timestamp.now().description),
            ])
        try await house.database.transaction { transaction in
            let told = NotificationDelivered(
                personID: push.personID, notificationID: push.notificationID, deviceID: push.deviceID,
                outcome: "delivered", at: .now())
            try await house.outbox.tell(told, in: transaction)
        }
    }
}
