import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// A push for one device; it stands sealed in the outbox until it is sent.
struct PushMessage: Codable, Sendable {
    var notificationID: Identifier
    var personID: Identifier
    var deviceID: Identifier
    var title: String
    var body: String
    var data: [String: String]
}

/// Sends pushes and tells recovery what became of each.
struct PushSender: Sendable {
    let house: ServiceHouse
    let secrets: Secrets
    let spool: SpoolProvider

    @Loop func send(_ item: OutboxItem) async throws {
        let push = try WireJSON.decode(PushMessage.self, from: item.payload)
        guard let sealed = try await DeviceStore.pushToken(of: push.deviceID, in: house.database) else { return }
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
