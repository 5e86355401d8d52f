import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Changes a device. A session may change its own device at any time. To change another device, it needs a fresh
/// sign-in, and all devices are notified.
struct PutDeviceHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let tokens: PushTokens
    let notifier: PersonNotifier

    func handle(_ request: PutDevice, context: RequestContext) async throws -> KnownDevice {
        let actor = try context.person()
        return try await inbox.oncePerMessage(context) { transaction in
            let device = try await DeviceStore.locked(
                request.deviceId, person: actor.userID, session: actor.sessionID, in: transaction)
            guard let device, !device.isRemoved else { throw Self.unknown }
            if !device.isOwn {
                try await AccountChangeGuard.permission(of: actor, in: transaction).mustBeFresh(
                    to: Sentence("change another device"))
                try await notifier.notify(of: .deviceChanged, device, in: transaction)
            }
            let push: DeviceStore.PushChange =
                request.clearPushToken == true
                ? tokens.clear(device, in: transaction)
                : try tokens.replacement(of: device, with: request.pushToken, in: transaction)
                    .map { .replace($0) } ?? .keep
            let changed = try await DeviceStore.change(
                request.deviceId, name: request.name, platform: request.platform, push: push,
                language: device.isOwn ? context.language : nil, session: actor.sessionID, in: transaction)
            guard let changed else { throw Self.unknown }
            // A change of the session's own device is not audited: the app makes one at each start, with its push
            // token.
            guard !device.isOwn else { return changed }
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            audit.note(
                AuditAct(
                    "device_changed",
                    ["device": request.deviceId.description, "session": actor.sessionID.description]),
                on: chain, in: transaction)
            return changed
        }
    }

    static let unknown = BusError(.notFound, "There is no such device.")
}
