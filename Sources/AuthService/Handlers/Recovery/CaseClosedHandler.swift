import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Ends the freeze of a case that is over. If the case moved the account to the claimant, the freeze ends two days
/// later.
struct CaseClosedHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail

    func handle(_ event: CaseClosed, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .recovery, in: transaction) else { return }
            if event.claimantWaits != true { FreezeStore.freeClaimant(of: event.caseID, in: transaction) }
            let rest = event.outcome == "completed" ? ChangePermission.rest : nil
            let person = try await FreezeStore.end(event.caseID, after: rest, in: transaction)
            guard let person else { return }
            let chain = try await audit.chain(of: person, in: transaction)
            audit.note(
                AuditAct("recovery_ended", ["case": event.caseID.description, "outcome": event.outcome]), on: chain,
                in: transaction)
        }
        return Acknowledged()
    }
}
