import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText

/// Stores that the person opened a questionnaire that is a step of the person's plan.
struct SessionOpenedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionOpened, context: RequestContext) async throws -> Acknowledged {
        let plans = try await profile.plans(of: profile.present(event.personID))
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
            CompletedQuestionnaireSession(
                id: event.sessionID, questionnaire: event.questionnaire, completedAt: event.completedAt,
                hasExtracts: event.extracts == true, fillsCleared: false), context)
    }
}

/// Handles an amended questionnaire session like a completed one. It was completed before, even if that event never
/// arrived.
struct SessionAmendedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: SessionAmended, context: RequestContext) async throws -> Acknowledged {
        try await profile.note(
            event,
            CompletedQuestionnaireSession(
                id: event.sessionID, questionnaire: event.questionnaire, completedAt: event.completedAt,
                hasExtracts: event.extracts == true, fillsCleared: true), context)
    }
}

/// Stores answers that fill fields of the profile as soon as they are saved.
struct ProfileAnswersChangedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: ProfileAnswersChanged, context: RequestContext) async throws -> Acknowledged {
        try await profile.note(event, context)
        return Acknowledged()
    }
}

/// The part of both events that profile uses.
private struct CompletedQuestionnaireSession {
    let id: Identifier
    let questionnaire: String
    let completedAt: Timestamp
    let hasExtracts: Bool
    /// Whether an answer fills a field that the person cleared in the profile.
    let fillsCleared: Bool
}

extension ProfileContext {
    /// Stores the completion and the extracts of any questionnaire: a plan that the person follows later may have it.
    @Loop fileprivate func note(
        _ event: some BusEvent, _ session: CompletedQuestionnaireSession, _ context: RequestContext
    ) async throws -> Acknowledged {
        // Requests the extracts before anything is locked. If questionnaire does not answer, the event is delivered
        // again.
        let extracts =
            session.hasExtracts
            ? try await extracts(GetExtracts(personID: event.personID, sessionID: session.id), context) : []
        let catalogue = try await libraries.current(having: extracts.map(\.field)).catalogue
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction) else { return }
            let record = try await locked(event.personID, in: transaction)
            let plans = try await plans(of: record)
            var changed = record
            if changed.questionnaires[session.questionnaire] == nil {
                changed.questionnaires[session.questionnaire] = session.completedAt
            }
            // The answers reached the profile as they were saved, so the person cleared the field later.
            let cleared =
                session.fillsCleared
                ? [] : try await store.cleared(extracts.map(\.field), of: event.personID, in: transaction)
            var fields = ExtractedFields(
                extracts.filter { !cleared.contains($0.field) }, to: changed, catalogue, today: today(of: changed))
            if plans.contains(where: { isRefusedAsUnderage(fields.change, of: changed, $0) }) {
                fields.leaveOutDateOfBirth()
            }
            noteLeftOut(fields.leftOut, of: session.questionnaire)
            let change = fields.change
            guard !change.isEmpty || changed != record else { return }
            noteProgress(from: record, to: changed.changed(by: change), plans, in: transaction)
            // Writes the fields first: they are written only at the revision that was read, and the step raises it.
            if !change.isEmpty {
                try await noteDateOfBirth(change, of: record, in: transaction)
                let plan = plans.first { $0.questionnaires.contains(session.questionnaire) } ?? plans[0]
                _ = try await store.apply(
                    change, to: record, isComplete: plan.completion.isComplete(record.changed(by: change)),
                    inAnswers: true, in: transaction)
            }
            guard changed != record else { return }
            store.noteQuestionnaire(
                session.questionnaire, of: event.personID, completedAt: session.completedAt, in: transaction)
        }
        return Acknowledged()
    }

    /// Stores answers as soon as they are saved, by the rules by which they were judged.
    @Loop fileprivate func note(_ event: ProfileAnswersChanged, _ context: RequestContext) async throws {
        let request = GetExtracts(
            personID: event.personID, sessionID: event.sessionID, questionnaire: event.questionnaire,
            fields: event.fields)
        let extracts = try await extracts(request, context)
        let catalogue = try await libraries.current(having: extracts.map(\.field)).catalogue
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .questionnaire, in: transaction) else { return }
            let record = try await locked(event.personID, in: transaction)
            let plans = try await plans(of: record)
            let rules = try await answerRules(of: record, in: event.app, isUnknown: event.appUnknown == true)
            // Values that the person has set in the profile since then are newer.
            let newer = try await store.changed(event.fields, of: record, after: event.judgedAt, in: transaction)
            let today = today(of: record)
            var fields = ExtractedFields(
                extracts.filter { !newer.contains($0.field) }, to: record, catalogue, today: today,
                replacingBy: rules.correction(on: today))
            if rules.plans.contains(where: { isRefusedAsUnderage(fields.change, of: record, $0) }) {
                fields.leaveOutDateOfBirth()
            }
            noteLeftOut(fields.leftOut, of: event.questionnaire)
            guard !fields.change.isEmpty else { return }
            let changed = record.changed(by: fields.change)
            noteProgress(from: record, to: changed, plans, in: transaction)
            try await noteDateOfBirth(fields.change, of: record, in: transaction)
            _ = try await store.apply(
                fields.change, to: record, isComplete: rules.plans[0].completion.isComplete(changed),
                saidAt: event.judgedAt, inAnswers: true, in: transaction)
        }
    }

    @Loop private func extracts(_ request: GetExtracts, _ context: RequestContext) async throws -> [ProfileExtract] {
        try await bus.call(request, CallOptions(timeout: context.remaining, trace: context.trace.child())).extracts
    }

    /// Logs the values that do not fit. The log names neither the value nor the person.
    private func noteLeftOut(_ leftOut: [ExtractedFields.Refusal], of questionnaire: String) {
        for refusal in leftOut {
            log.warning(
                "extract_left_out",
                [
                    "questionnaire": .string(questionnaire), "field": .string(refusal.field),
                    "problem": .string(refusal.code),
                ])
        }
    }
}
