import BusProtocol
import BusRuntime
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

/// Writes one push for each device that the person has.
struct NotifyPersonHandler: RequestHandler {
    let house: ServiceHouse
    let appName: String

    func handle(_ event: NotifyPerson, context: RequestContext) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            // Recovery and profile count a person's events each for itself.
            guard try await EventPosition.accept(event, from: context.caller, in: transaction) else { return }
            let devices = try await transaction.query(Self.devices, [.uuid(event.personID)])
            let (title, body) = NotificationText.text(kind: event.kind, data: event.data, appName: appName)
            for device in devices {
                let push = PushMessage(
                    notificationID: event.notificationID, personID: event.personID, deviceID: try device.uuid("id"),
                    title: title, body: body, data: event.data.merging(["kind": event.kind]) { $1 })
                house.outbox.enqueue("push", payload: try WireJSON.encode(push), in: transaction)
            }
        }
        return Acknowledged()
    }

    private static let devices: Statement = """
        SELECT id FROM devices WHERE person_id = $1 AND push_token_sealed IS NOT NULL
        """
}

/// What a person reads.
enum NotificationText {
    static func text(kind: String, data: [String: String], appName: String) -> (title: String, body: String) {
        switch kind {
        case "recovery_requested":
            (
                "Is this you?",
                "Somebody with the number \(data["claimantPhone"] ?? "of another phone") asked to recover your \(appName) account. If it was not you, say so now and nothing will change."
            )
        case "recovery_disputed":
            ("Recovery stopped", "The request to recover your \(appName) account was stopped. Nothing has changed.")
        default: (appName, "There is news about your account.")
        }
    }
}
