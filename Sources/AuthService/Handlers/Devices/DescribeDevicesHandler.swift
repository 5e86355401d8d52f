import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Tells recovery the kinds and times of an account's devices, for its reviewers.
struct DescribeDevicesHandler: RequestHandler {
    let database: Database

    func handle(_ request: DescribeDevices, context: RequestContext) async throws -> DevicesDescribed {
        // No session of the person asks, so none is the current one.
        let known = try await DeviceStore.list(of: request.personID, session: request.personID, in: database)
        return DevicesDescribed(
            devices: known.map { .init(platform: $0.platform, addedAt: $0.createdAt, lastUsedAt: $0.lastUsedAt) })
    }
}
