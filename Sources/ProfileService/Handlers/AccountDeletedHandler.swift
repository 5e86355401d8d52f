import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// A person is gone: everything about them goes, and nothing that comes late begins them again.
struct AccountDeletedHandler: RequestHandler {
    let house: ServiceHouse
    let store: ProfileStore

    func handle(_ event: AccountDeleted, context: RequestContext) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            store.erase(event.personID, in: transaction)
            Erasure.withdraw(event.personID, in: transaction)
            Erasure.erase(event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
