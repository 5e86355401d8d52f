import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// One's own device at any time; another one only while the sign-in is five minutes old at the most.
struct PutDeviceHandler: RequestHandler {
    let house: ServiceHouse
    let secrets: Secrets

    func handle(_ request: PutDevice, context: RequestContext) async throws -> KnownDevice {
        let actor = try context.person()
        return try await house.database.transaction { transaction in
            let isOwn = try await DeviceStore.isOwn(
                request.deviceId, person: actor.userID, session: actor.sessionID, in: transaction)
            guard let isOwn else { throw Self.unknown }
            if !isOwn {
                try await StandingStore.standing(of: actor, in: transaction).mustBeFresh(to: "change another device")
            }
            let push = request.pushToken.map {
                secrets.pushSealer.seal(Array($0.utf8), associated: request.deviceId.array)
            }
            let changed = try await DeviceStore.change(
                request.deviceId, name: request.name, platform: request.platform, push: push,
                session: actor.sessionID, in: transaction)
            guard let changed else { throw Self.unknown }
            // One's own changes at each start of the app, with its push token.
            guard !isOwn else { return changed }
            let chain = try await house.audit.chain(of: actor.userID, in: transaction)
            house.audit.note(
                AuditAct(
                    "device_changed",
                    ["device": request.deviceId.description, "session": actor.sessionID.description]),
                on: chain, in: transaction)
            return changed
        }
    }

    private static let unknown = BusError(.notFound, "There is no such device.")
}
