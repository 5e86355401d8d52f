import BusProtocol
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Tells a person something, by a push to each device that one can be sent to.
struct PersonNotifier: Sendable {
    let house: ServiceHouse
    let appName: String

    /// Writes the pushes, sealed, in the transaction of what is told; they leave with it.
    ///
    /// - Parameters:
    ///   - kind: decides the text (``NotificationText``), and goes out in the push's data.
    ///   - data: may carry a secret; never a code, and never a whole phone number.
    ///   - excluded: a device that is not told: it did what the others hear of.
    ///   - notification: what the pushes of one act have in common.
    @Loop func tell(
        _ person: Identifier, _ kind: String, _ data: [String: String], except excluded: Identifier? = nil,
        notification: Identifier = .ordered(), in transaction: Transaction
    ) async throws {
        let (title, body) = NotificationText.text(kind: kind, data: data, appName: appName)
        for device in try await DeviceStore.reachable(of: person, in: transaction) where device != excluded {
            let push = PushMessage(
                notificationID: notification, personID: person, deviceID: device, title: title, body: body,
                data: data.merging(["kind": kind]) { $1 })
            house.outbox.enqueue("push", payload: try WireJSON.encode(push), in: transaction)
        }
    }
}
