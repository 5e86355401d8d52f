import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct ListDevicesHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ request: ListDevices, context: RequestContext) async throws -> DeviceList {
        let actor = try context.person()
        return DeviceList(
            devices: try await DeviceStore.list(of: actor.userID, session: actor.sessionID, in: house.database))
    }
}
