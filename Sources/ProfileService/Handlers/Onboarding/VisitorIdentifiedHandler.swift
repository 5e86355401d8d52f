import BusProtocol
import BusRuntime
import Database
import EventLoop

struct VisitorIdentifiedHandler: RequestHandler {
    let database: Database
    let events: EventStore

    func handle(_ event: VisitorIdentified, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            events.identify(event.anonymousID, as: event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
