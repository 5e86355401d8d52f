import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// The case is over: what was frozen for it may be moved again, two days later where it brought the account to the claimant.
struct CaseClosedHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ event: CaseClosed, context: RequestContext) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .recovery, in: transaction) else { return }
            if event.outcome == "completed" {
                FreezeStore.end(event.caseID, after: SessionStanding.rest, in: transaction)
            } else {
                FreezeStore.end(event.caseID, in: transaction)
            }
        }
        return Acknowledged()
    }
}
