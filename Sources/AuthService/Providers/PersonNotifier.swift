import BusProtocol
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Tells a person something, by a push to each device that one can be sent to.
struct PersonNotifier: Sendable {
    let outbox: Outbox
    let tokens: PushTokens
    let appName: String

    /// Writes the pushes, sealed, in the transaction of what is told; they leave with it. What is told of a recovery
    /// (`recovery_…`) goes to removed devices and replaced tokens too, for 30 days.
    ///
    /// - Parameters:
    ///   - kind: decides the text (``NotificationText``), and goes out in the push's data.
    ///   - data: may carry a secret; never a code, and never a whole phone number.
    ///   - excluded: a device that is not told: it did what the others hear of.
    ///   - notification: what the pushes of one act have in common.
    @Loop func notify(
        _ person: Identifier, _ kind: NoticeKind, _ data: [String: String], except excluded: Identifier? = nil,
        notification: Identifier = .ordered(), in transaction: Transaction
    ) async throws {
        let (title, body) = NotificationText.text(kind: kind, data: data, appName: appName)
        for target in try await tokens.targets(of: person, isRecovery: kind.isOfRecovery, in: transaction)
        where target.device != excluded {
            let push = PushMessage(
                notificationID: notification, personID: person, deviceID: target.device, token: target.token,
                replacedTokenID: target.replacedID, title: title, body: body,
                data: data.merging(["kind": kind.rawValue]) { $1 })
            outbox.enqueue("push", payload: try WireJSON.encode(push), in: transaction)
        }
    }

    /// Tells all devices of a person what was done to one of them.
    @Loop func notify(of kind: NoticeKind, _ device: LockedDevice, in transaction: Transaction) async throws {
        let data = [
            "deviceId": device.id.description, "platform": device.platform, "at": Timestamp.now().description,
        ]
        try await notify(device.person, kind, data, in: transaction)
    }
}
