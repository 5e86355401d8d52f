import BusProtocol
import BusRuntime
import Database
import EventLoop

struct SessionCompletedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
        try await profile.house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction) else { return }
            profile.store.noteQuestionnaire(of: event.personID, completedAt: event.completedAt, in: transaction)
        }
        return Acknowledged()
    }
}
