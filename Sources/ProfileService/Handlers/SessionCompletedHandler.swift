import BusProtocol
import BusRuntime
import Database
import EventLoop

struct SessionCompletedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
        try await profile.house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction) else { return }
            let record = try await profile.store.locked(event.personID, in: transaction)
            profile.store.noteQuestionnaire(of: event.personID, completedAt: event.completedAt, in: transaction)
            var changed = record
            changed.isQuestionnaireComplete = true
            profile.noteProgress(from: record, to: changed, in: transaction)
        }
        return Acknowledged()
    }
}
