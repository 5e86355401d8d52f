import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Takes a step of onboarding for done.
struct SessionCompletedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
        try await profile.noteQuestionnaire(event, event.questionnaire, completedAt: event.completedAt)
    }
}

/// A session that was amended was completed, whatever became of what was told of that.
struct SessionAmendedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionAmended, context: RequestContext) async throws -> Acknowledged {
        try await profile.noteQuestionnaire(event, event.questionnaire, completedAt: event.completedAt)
    }
}

extension ProfileContext {
    /// Onboarding waits for one questionnaire of all; of the others nothing is noted.
    @Loop fileprivate func noteQuestionnaire(
        _ event: some BusEvent, _ questionnaire: String, completedAt: Timestamp
    ) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction),
                questionnaire == self.questionnaire
            else { return }
            let record = try await store.locked(event.personID, in: transaction)
            guard !record.isQuestionnaireComplete else { return }
            store.noteQuestionnaire(of: event.personID, completedAt: completedAt, in: transaction)
            var changed = record
            changed.isQuestionnaireComplete = true
            noteProgress(from: record, to: changed, in: transaction)
        }
        return Acknowledged()
    }
}
