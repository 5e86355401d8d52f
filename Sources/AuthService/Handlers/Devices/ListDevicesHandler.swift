import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct ListDevicesHandler: RequestHandler {
    let database: Database

    func handle(_ request: ListDevices, context: RequestContext) async throws -> DeviceList {
        let actor = try context.person()
        return DeviceList(
            devices: try await DeviceStore.list(of: actor.userID, session: actor.sessionID, in: database))
    }
}
