import BusProtocol
import BusRuntime
import EventLoop

/// Seals dates and answers to sensitive questions that were stored before they were sealed.
struct SealDatesHandler: RequestHandler {
    let openAnswers: OpenAnswers

    func handle(_ request: SealDates, context: RequestContext) async throws -> DatesSealed {
        let settings = [
            ("QUESTIONNAIRE_SEAL_DATES", openAnswers.sealer.isSealing),
            ("QUESTIONNAIRE_SEAL_HEALTH", openAnswers.sealer.isSealingHealth),
        ]
        if let (name, _) = settings.first(where: { !$0.1 }) {
            throw BusError(
                .sealingOff, "Nothing is sealed while \(name) is false: some replica may not know what is.")
        }
        let sealed = try await openAnswers.seal(
            after: request.after.flatMap { QuestionnaireSessionCursor($0) }, limit: request.limit)
        return DatesSealed(
            sessions: sealed.sessions, dates: sealed.dates, answers: sealed.answers, next: sealed.next?.text)
    }
}
