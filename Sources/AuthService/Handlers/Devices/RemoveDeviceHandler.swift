import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Removes a device and ends its sessions. All devices are notified, even if a device removes itself: the request may
/// come from a stolen access token.
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
                try await AccountChangeGuard.permission(of: actor, in: transaction).mustBeFresh(
                    to: Sentence("remove another device"))
            }
            try await notifier.notify(of: .deviceRemoved, device, in: transaction)
            DeviceStore.remove(device.id, by: actor.sessionID, in: transaction)
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            // Lock the sessions before the end of the audit chain, as everywhere.
            SessionStore.revokeAll(on: device.id, of: actor.userID, chain: chain, in: transaction)
            audit.note(
                AuditAct(
                    "device_removed", ["device": device.id.description, "session": actor.sessionID.description]),
                on: chain, in: transaction)
            return NoContent()
        }
    }
}
