import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Extends the freeze of a case to the end of its hold. It never shortens a freeze.
struct CaseOpenedHandler: RequestHandler {
    let database: Database

    func handle(_ event: CaseOpened, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .recovery, in: transaction) else { return }
            FreezeStore.extend(event.caseID, until: event.holdUntil, in: transaction)
        }
        return Acknowledged()
    }
}
