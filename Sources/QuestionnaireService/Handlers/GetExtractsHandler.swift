import BusProtocol
import BusRuntime
import Cryptography
import EventLoop

/// Returns to profile the values that a result, or the present answers of a session, have for its fields.
struct GetExtractsHandler: RequestHandler {
    let service: QuestionnaireSessionService

    func handle(_ request: GetExtracts, context: RequestContext) async throws -> ProfileExtracts {
        // Operators may send any message that only reads. They must not read a person's answers, so only profile may
        // send this one.
        guard context.caller == .profile else {
            throw BusError(.callerNotAllowed, "This service does not take this message from this caller.")
        }
        if let questionnaire = request.questionnaire {
            return try await present(request.fields ?? [], request, of: questionnaire)
        }
        guard let result = try await service.sessions.resultThatCounts(of: request.sessionID, of: request.personID),
            let hash = Hex.decode(result.hash)
        else { return ProfileExtracts(extracts: []) }
        let definition = try await service.definitions.definition(hash).definition
        return ProfileExtracts(extracts: Extraction.extracts(of: definition, from: result.answers))
    }

    @Loop private func present(
        _ fields: [String], _ request: GetExtracts, of questionnaire: String
    ) async throws -> ProfileExtracts {
        // This includes a session that was stopped meanwhile, since its answers were acknowledged.
        guard let hand = try await service.look(request.sessionID, of: request.personID, for: questionnaire) else {
            return ProfileExtracts(extracts: [])
        }
        let said = hand.sheet.profileAnswers
        return ProfileExtracts(
            extracts: fields.compactMap { field in said[field].map { ProfileExtract(field: field, value: $0) } })
    }
}
