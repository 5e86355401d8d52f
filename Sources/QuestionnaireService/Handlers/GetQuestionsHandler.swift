import BusProtocol
import BusRuntime
import EventLoop

/// Shows the questions of the person's current session, in the version that the session is pinned to. If there is no
/// session, it opens one in the newest version.
struct GetQuestionsHandler: RequestHandler {
    let questionnaire: String
    let service: QuestionnaireSessionService

    func handle(_ request: GetQuestions, context: RequestContext) async throws -> QuestionsView {
        let person = try context.person().userID
        let facts = QuestionnaireSessionFacts(language: .header(request.acceptLanguage))
        let hand = try await service.knowing(facts, of: person, context) {
            try await service.current(of: person, for: questionnaire, knowing: $0)
        }
        let (session, published, sheet) = (hand.session, hand.published, hand.sheet)
        let language = published.language(for: request.acceptLanguage)
        return QuestionsView(
            questionnaire: published.reference(in: language), sessionId: session.id, status: session.status,
            questions: published.views(for: sheet, in: language), answers: sheet.views, progress: sheet.progress,
            next: sheet.next.map(NextQuestion.init), nextQuestion: sheet.next?.question, language: language)
    }
}

extension BusError {
    /// The error between the service's first start and the end of its import of definitions.
    static let nothingPublished = BusError(
        .serviceUnavailable, "The questions are not ready yet. Please try again in a moment.",
        retryAfter: .seconds(1))
}
