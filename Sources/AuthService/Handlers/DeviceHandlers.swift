import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct ListDevicesHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ request: ListDevices, context: RequestContext) async throws -> DeviceList {
        let actor = try context.person()
        let rows = try await house.database.read(Self.select, [.uuid(actor.userID), .uuid(actor.sessionID)])
        return DeviceList(devices: try rows.map { try KnownDevice($0) })
    }

    static let select: Statement = """
        SELECT d.id, d.name, d.platform, d.push_token_sealed IS NOT NULL AS has_push_token, d.created_at, d.last_used_at,
            EXISTS (SELECT 1 FROM sessions s WHERE s.id = $2 AND s.device_id = d.id) AS is_current
        FROM devices d WHERE d.person_id = $1 ORDER BY d.last_used_at DESC LIMIT 100
        """
}

/// One's own device at any time; another one only while the sign-in is five minutes old at the most.
struct PutDeviceHandler: RequestHandler {
    let house: ServiceHouse
    let secrets: Secrets

    func handle(_ request: PutDevice, context: RequestContext) async throws -> KnownDevice {
        let actor = try context.person()
        return try await house.database.transaction { transaction in
            guard
                let row = try await transaction.query(
                    Self.load, [.uuid(request.deviceId), .uuid(actor.userID), .uuid(actor.sessionID)]
                ).first
            else { throw BusError(.notFound, "There is no such device.") }
            guard try row.bool("is_own") || row.bool("is_fresh") else {
                throw BusError(.reauthenticationRequired, "Please sign in again to change another device.")
            }
            let push = request.pushToken.map {
                secrets.pushSealer.seal(Array($0.utf8), associated: request.deviceId.array)
            }
            let changed = try await transaction.query(
                Self.update,
                [
                    .uuid(request.deviceId), .text(request.name), .text(request.platform), .bytes(push),
                    .uuid(actor.sessionID),
                ])
            guard let device = changed.first else { throw BusError(.notFound, "There is no such device.") }
            return try KnownDevice(device)
        }
    }

    private static let load: Statement = """
        SELECT s.device_id = d.id AS is_own, s.created_at > clock_timestamp() - interval '5 minutes' AS is_fresh
        FROM devices d JOIN sessions s ON s.id = $3 AND s.person_id = $2
        WHERE d.id = $1 AND d.person_id = $2 FOR UPDATE OF d
        """
    private static let update: Statement = """
        UPDATE devices d SET name = $2, platform = $3, push_token_sealed = coalesce($4, push_token_sealed),
            last_used_at = clock_timestamp()
        WHERE d.id = $1
        RETURNING d.id, d.name, d.platform, d.push_token_sealed IS NOT NULL AS has_push_token, d.created_at,
            d.last_used_at, EXISTS (SELECT 1 FROM sessions s WHERE s.id = $5 AND s.device_id = d.id) AS is_current
        """
}

extension KnownDevice {
    init(_ row: Row) throws(DatabaseError) {
        self.init(
            id: try row.uuid("id"), name: try row.text("name"), platform: try row.text("platform"),
            hasPushToken: try row.bool("has_push_token"), current: try row.bool("is_current"),
            createdAt: try row.timestamp("created_at"), lastUsedAt: try row.timestamp("last_used_at"))
    }
}
