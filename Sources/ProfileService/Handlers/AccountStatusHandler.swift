import BusProtocol
import BusRuntime
import Database
import EventLoop

struct AccountStatusHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: AccountStatusChanged, context: RequestContext) async throws -> Acknowledged {
        try await profile.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            profile.store.create(event.personID, in: transaction)
            profile.store.note(
                isSuspended: event.status == "suspended", since: event.changedAt, of: event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
