import BusProtocol
import BusRuntime
import Database
import EventLoop

struct VisitorIdentifiedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: VisitorIdentified, context: RequestContext) async throws -> Acknowledged {
        try await profile.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            profile.events.identify(event.anonymousID, as: event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
