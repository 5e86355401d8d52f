import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Stores the result of a notice on one device, once and in order. Other notifications are ignored.
struct NotificationDeliveredHandler: RequestHandler {
    let database: Database

    func handle(_ event: NotificationDelivered, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            NoticeStore.keep(event, in: transaction)
        }
        return Acknowledged()
    }
}
