import BusProtocol
import BusRuntime
import Database
import EventLoop

struct AccountCreatedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: AccountCreated, context: RequestContext) async throws -> Acknowledged {
        try await profile.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            profile.create(event.personID, in: transaction)
            profile.events.note([.otpVerified], of: event.personID, at: event.createdAt, in: transaction)
        }
        return Acknowledged()
    }
}
