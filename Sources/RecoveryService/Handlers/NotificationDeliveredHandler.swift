import BusProtocol
import BusRuntime
import Database
import EventLoop

/// What became of a notice on one device: taken in order, once, and kept where it is one of a case.
struct NotificationDeliveredHandler: RequestHandler {
    let store: CaseStore

    func handle(_ event: NotificationDelivered, context: RequestContext) async throws -> Acknowledged {
        try await store.container.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            transaction.send(
                Self.keep,
                [.uuid(event.notificationID), .uuid(event.deviceID), .text(event.outcome), .timestamp(event.at)])
        }
        return Acknowledged()
    }

    private static let keep: Statement = """
        INSERT INTO notice_deliveries (notice_id, device_id, outcome, at)
        SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT 1 FROM notices WHERE id = $1)
        ON CONFLICT (notice_id, device_id) DO UPDATE SET outcome = excluded.outcome, at = excluded.at
        """
}
