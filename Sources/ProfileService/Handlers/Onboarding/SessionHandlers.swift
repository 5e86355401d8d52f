import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText

/// Stores that the person opened a questionnaire that is a step of the person's plan.
struct SessionOpenedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionOpened, context: RequestContext) async throws -> Acknowledged {
        let plans = try await profile.plans(of: profile.store.present(event.personID))
        try await profile.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction),
                plans.contains(where: { $0.questionnaires.contains(event.questionnaire) })
            else { return }
            profile.events.note([.questionnaireStarted], of: event.personID, at: event.openedAt, in: transaction)
        }
        return Acknowledged()
    }
}

/// Marks the questionnaire step of onboarding as done, and adds the extracts of the answers to the profile.
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

/// Handles an amended session like a completed one. It was completed before, even if that event never arrived.
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

/// The part of both events that profile uses.
private struct ToldSession {
    let id: Identifier
    let questionnaire: String
    let completedAt: Timestamp
    let hasExtracts: Bool
}

extension ProfileContext {
    /// Stores the completion and the extracts of any questionnaire: a plan that the person follows later may have it.
    @Loop fileprivate func note(
        _ event: some BusEvent, _ session: ToldSession, _ context: RequestContext
    ) async throws -> Acknowledged {
        // Requests the extracts before anything is locked. If questionnaire does not answer, the event is delivered
        // again.
        let extracts = try await extracts(of: event.personID, session, context)
        let catalogue = try await store.library(having: extracts.map(\.field)).catalogue
        let plans = try await plans(of: store.present(event.personID))
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction) else { return }
            let record = try await store.locked(event.personID, in: transaction)
            var changed = record
            if changed.questionnaires[session.questionnaire] == nil {
                changed.questionnaires[session.questionnaire] = session.completedAt
            }
            let change = taken(extracts, by: changed, catalogue, plans, from: session.questionnaire)
            guard !change.isEmpty || changed != record else { return }
            noteProgress(from: record, to: changed.changed(by: change), plans, in: transaction)
            // Writes the fields first: they are written only at the revision that was read, and the step raises it.
            if !change.isEmpty {
                try await noteDateOfBirth(change, of: record, in: transaction)
                _ = try await store.apply(change, to: record, plans[0], in: transaction)
            }
            guard changed != record else { return }
            store.noteQuestionnaire(
                session.questionnaire, of: event.personID, completedAt: session.completedAt, in: transaction)
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

    /// The change that the extracts make. It is checked like a PATCH by the person. Values that do not fit are left
    /// out. The log names neither the value nor the person.
    @Loop private func taken(
        _ extracts: [ProfileExtract], by record: ProfileRecord, _ catalogue: FieldCatalogue, _ plans: [Plan],
        from questionnaire: String
    ) -> ProfileChange {
        var fields = ExtractedFields(extracts, to: record, catalogue, today: today(of: record))
        if plans.contains(where: { isRefusedAsUnderage(fields.change, of: record, $0) }) {
            fields.leaveOutDateOfBirth()
        }
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
