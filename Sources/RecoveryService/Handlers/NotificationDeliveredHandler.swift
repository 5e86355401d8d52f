import BusProtocol
import BusRuntime
import Database
import EventLoop

/// What became of a notification: taken in order, once.
struct NotificationDeliveredHandler: RequestHandler {
    let store: CaseStore

    func handle(_ event: NotificationDelivered, context: RequestContext) async throws -> Acknowledged {
        try await store.house.database.transaction { transaction in
            _ = try await EventPosition.accept(event, from: .auth, in: transaction)
        }
        return Acknowledged()
    }
}
