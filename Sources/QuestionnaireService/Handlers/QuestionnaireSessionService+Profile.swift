import BusProtocol
import BusRuntime
import Database
import EventLoop

extension QuestionnaireSessionService {
    /// Runs `body`, which may save answers that fill fields of the profile. If profile has to judge them first, it is
    /// asked, and `body` runs again.
    ///
    /// Profile is called outside of the transaction. Most answers fill no field, so `body` runs once for them.
    ///
    /// - Throws: ``BusError`` `service_unavailable` if profile does not answer now. Nothing was saved then.
    func judging<Value: Sendable>(
        _ person: Identifier, _ context: RequestContext, _ body: @Loop (ProfileVerdicts) async throws -> Value
    ) async throws -> Value {
        var verdicts = ProfileVerdicts()
        while true {
            do {
                return try await body(verdicts)
            } catch let wanted as ProfileVerdicts.Wanted {
                // Each round asks about answers that were not judged before, so the loop ends.
                verdicts.add(try await judge(wanted.answers, of: person, context), on: wanted.answers)
            }
        }
    }

    private func judge(
        _ answers: [ProfileExtract], of person: Identifier, _ context: RequestContext
    ) async throws -> AnswersJudged {
        let options = CallOptions(timeout: min(.seconds(2), context.remaining), trace: context.trace.child())
        do {
            let request = JudgeAnswers(
                personID: person, app: context.actor?.app, appUnknown: context.actor == nil ? true : nil,
                answers: answers)
            return try await bus.call(request, options)
        } catch {
            throw error.answer(
                ifItPasses: BusError(
                    .serviceUnavailable, "This cannot be saved at the moment. Please try again.",
                    retryAfter: .seconds(1)))
        }
    }

    /// Requires that profile has judged all answers of a change.
    ///
    /// - Throws: ``ProfileVerdicts/Wanted``.
    func mustBeJudged(_ change: ProfileAnswerChange) throws(ProfileVerdicts.Wanted) {
        guard change.unjudged.isEmpty else {
            throw ProfileVerdicts.Wanted(answers: Array(change.unjudged.prefix(JudgeAnswers.most)))
        }
    }

    /// Publishes that answers to fields of the profile changed, if any did. Stores which answers profile refused.
    ///
    /// - Parameters:
    ///   - actor: the person in the app; `nil` if an operator moves the session, so that the app is unknown.
    ///   - watch: waits until the event was tried.
    func note(
        _ change: ProfileAnswerChange, _ verdicts: ProfileVerdicts, on hand: LoadedQuestionnaireSession,
        by actor: Actor?,
        watch: DeliveryWatch? = nil, in transaction: Transaction
    ) async throws {
        if !change.refused.isEmpty {
            sessions.makeStale(change.refused, of: hand.person, session: hand.session.id, in: transaction)
        }
        guard !change.fields.isEmpty, let judgedAt = verdicts.judgedAt else { return }
        let event = ProfileAnswersChanged(
            personID: hand.person, sessionID: hand.session.id, questionnaire: hand.sheet.definition.key,
            fields: change.fields, app: actor?.app, appUnknown: actor == nil ? true : nil, judgedAt: judgedAt)
        try await outbox.publish(event, watch: watch, in: transaction)
    }
}
