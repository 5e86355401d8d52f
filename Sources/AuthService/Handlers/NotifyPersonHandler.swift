import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Writes one push for each device that the person has.
struct NotifyPersonHandler: RequestHandler {
    let house: ServiceHouse
    let appName: String

    func handle(_ event: NotifyPerson, context: RequestContext) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            // Recovery and profile count a person's events each for itself.
            guard try await EventPosition.accept(event, from: context.caller, in: transaction) else { return }
            let devices = try await DeviceStore.reachable(of: event.personID, in: transaction)
            let (title, body) = NotificationText.text(kind: event.kind, data: event.data, appName: appName)
            for device in devices {
                let push = PushMessage(
                    notificationID: event.notificationID, personID: event.personID, deviceID: device,
                    title: title, body: body, data: event.data.merging(["kind": event.kind]) { $1 })
                house.outbox.enqueue("push", payload: try WireJSON.encode(push), in: transaction)
            }
        }
        return Acknowledged()
    }
}
