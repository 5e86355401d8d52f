import BusProtocol
import BusRuntime
import EventLoop

/// Shows one session as screens to draw.
struct GetSessionScreensHandler: RequestHandler {
    let service: SessionService

    func handle(_ request: GetSessionScreens, context: RequestContext) async throws -> SessionScreens {
        let person = try context.person().userID
        guard let hand = try await service.look(request.sessionId, of: person, for: request.questionnaire) else {
            throw ResponseRefusal.unknownSession.busError
        }
        return hand.published.screens(
            for: hand.sheet, revision: hand.session.revision,
            in: hand.published.language(for: request.acceptLanguage))
    }
}
