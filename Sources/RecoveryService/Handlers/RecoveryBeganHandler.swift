import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Creates the case from auth's event if auth's reply to the request was lost.
struct RecoveryBeganHandler: RequestHandler {
    let database: Database
    let cases: CaseWorkflow

    func handle(_ event: RecoveryBegan, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            _ = try await cases.ensure(event.begun, origin: nil, in: transaction)
        }
        return Acknowledged()
    }
}
