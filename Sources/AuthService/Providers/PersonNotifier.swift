import BusProtocol
import Database
import EventLoop
import JSONText
import Languages
import ServiceRuntime

/// Notifies a person with a push to each device that has a push token.
struct PersonNotifier: Sendable {
    let outbox: Outbox
    let tokens: PushTokens
    let appName: String

    /// Writes the pushes, sealed, to the outbox. Call it in the transaction of the change that they are about.
    ///
    /// Notices of a recovery (`recovery_…`) also go to removed devices and replaced tokens, for 30 days.
    ///
    /// Each text is in the language that its device last asked for.
    ///
    /// - Parameters:
    ///   - kind: selects the text (``NotificationText``), and is sent in the push's data.
    ///   - data: may contain a secret, but never a code and never a whole phone number.
    ///   - excluded: the device that made the change. It is not notified.
    ///   - notification: the id that the pushes of one change share.
    @Loop func notify(
        _ person: Identifier, _ kind: NoticeKind, _ data: [String: String], except excluded: Identifier? = nil,
        notification: Identifier = .ordered(), in transaction: Transaction
    ) async throws {
        let (title, body) = NotificationText.text(kind: kind, data: data, appName: appName)
        for target in try await tokens.targets(of: person, isRecovery: kind.isOfRecovery, in: transaction)
        where target.device != excluded {
            let push = PushMessage(
                notificationID: notification, personID: person, deviceID: target.device, token: target.token,
                replacedTokenID: target.replacedID, title: title.text(in: target.language),
                body: body.text(in: target.language),
                data: data.merging(["kind": kind.rawValue]) { $1 })
            outbox.enqueue("push", payload: try WireJSON.encode(push), in: transaction)
        }
    }

    /// Notifies all devices of a person about a change of one of them.
    @Loop func notify(of kind: NoticeKind, _ device: LockedDevice, in transaction: Transaction) async throws {
        let data = [
            "deviceId": device.id.description, "platform": device.platform, "at": Timestamp.now().description,
        ]
        try await notify(device.person, kind, data, in: transaction)
    }
}
