import BusProtocol
import BusRuntime
import Database
import EventLoop

struct AccountStatusHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: AccountStatusChanged, context: RequestContext) async throws -> Acknowledged {
        try await profile.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            let record = try await profile.locked(event.personID, in: transaction)
            var changed = record
            changed.isSuspended = event.status == "suspended"
            profile.store.note(
                isSuspended: changed.isSuspended, since: event.changedAt, of: event.personID, in: transaction)
            // A suspended person does not count as complete.
            profile.noteProgress(from: record, to: changed, try await profile.plans(of: record), in: transaction)
        }
        return Acknowledged()
    }
}
