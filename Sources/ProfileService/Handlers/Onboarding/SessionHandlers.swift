import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText

/// Notes that the person was shown the questions that onboarding waits for.
struct SessionOpenedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionOpened, context: RequestContext) async throws -> Acknowledged {
        try await profile.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction),
                event.questionnaire == profile.questionnaire
            else { return }
            profile.events.note([.questionnaireStarted], of: event.personID, at: event.openedAt, in: transaction)
        }
        return Acknowledged()
    }
}

/// Takes a step of onboarding for done, and in what the answers say of the profile.
struct SessionCompletedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
        try await profile.note(
            event,
            ToldSession(
                id: event.sessionID, questionnaire: event.questionnaire, completedAt: event.completedAt,
                hasExtracts: event.extracts == true), context)
    }
}

/// A session that was amended was completed, whatever became of what was told of that.
struct SessionAmendedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionAmended, context: RequestContext) async throws -> Acknowledged {
        try await profile.note(
            event,
            ToldSession(
                id: event.sessionID, questionnaire: event.questionnaire, completedAt: event.completedAt,
                hasExtracts: event.extracts == true), context)
    }
}

/// What both events tell of a session.
private struct ToldSession {
    let id: Identifier
    let questionnaire: String
    let completedAt: Timestamp
    let hasExtracts: Bool
}

extension ProfileContext {
    /// Onboarding waits for one questionnaire of all; of the others only what they say of the profile is noted.
    @Loop fileprivate func note(
        _ event: some BusEvent, _ session: ToldSession, _ context: RequestContext
    ) async throws -> Acknowledged {
        // Before anything is locked. Where questionnaire does not answer, the event comes again.
        let extracts = try await extracts(of: event.personID, session, context)
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction),
                session.questionnaire == questionnaire || !extracts.isEmpty
            else { return }
            let record = try await store.locked(event.personID, in: transaction)
            var changed = record
            if session.questionnaire == questionnaire { changed.isQuestionnaireComplete = true }
            let change = taken(extracts, by: changed, from: session.questionnaire)
            guard !change.isEmpty || changed != record else { return }
            noteProgress(from: record, to: changed.changed(by: change), in: transaction)
            // The fields before the step, which raises the revision that they are written upon.
            if !change.isEmpty {
                try await noteDateOfBirth(change, of: event.personID, in: transaction)
                _ = try await store.apply(change, to: record, in: transaction)
            }
            guard changed != record else { return }
            store.noteQuestionnaire(of: event.personID, completedAt: session.completedAt, in: transaction)
        }
        return Acknowledged()
    }

    @Loop private func extracts(
        of person: Identifier, _ session: ToldSession, _ context: RequestContext
    ) async throws -> [ProfileExtract] {
        guard session.hasExtracts else { return [] }
        return try await bus.call(
            GetExtracts(personID: person, sessionID: session.id),
            CallOptions(timeout: context.remaining, trace: context.trace.child())
        ).extracts
    }

    /// As a PATCH by the person, of which what does not fit is left out. What it was is not logged, nor whose.
    @Loop private func taken(
        _ extracts: [ProfileExtract], by record: ProfileRecord, from questionnaire: String
    ) -> ProfileChange {
        var fields = ExtractedFields(extracts, to: record, today: today(of: record))
        if isRefusedAsUnderage(fields.change, of: record) { fields.leaveOutDateOfBirth() }
        for refusal in fields.leftOut {
            log.warning(
                "extract_left_out",
                [
                    "questionnaire": .string(questionnaire), "field": .string(refusal.field),
                    "problem": .string(refusal.code),
                ])
        }
        return fields.change
    }
}
