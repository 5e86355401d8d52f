import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Forgets a device and ends its sessions. All are told, the removed one among them, whoever removed it: a stolen access
/// token removes its own device.
struct RemoveDeviceHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let notifier: PersonNotifier

    func handle(_ request: RemoveDevice, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await database.transaction { transaction in
            let device = try await DeviceStore.locked(
                request.deviceId, person: actor.userID, session: actor.sessionID, in: transaction)
            guard let device else { throw PutDeviceHandler.unknown }
            guard !device.isRemoved else { return NoContent() }
            if !device.isOwn {
                try await StandingStore.standing(of: actor, in: transaction).mustBeFresh(to: "remove another device")
            }
            try await notifier.notify(of: .deviceRemoved, device, in: transaction)
            DeviceStore.remove(device.id, by: actor.sessionID, in: transaction)
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            // Sessions before the chain's end, as whoever ends a session locks them.
            SessionStore.revokeAll(on: device.id, of: actor.userID, chain: chain, in: transaction)
            audit.note(
                AuditAct(
                    "device_removed", ["device": device.id.description, "session": actor.sessionID.description]),
                on: chain, in: transaction)
            return NoContent()
        }
    }
}
