import BusProtocol
import BusRuntime
import EventLoop

/// Compares the newest results of two people.
struct CompareProfilesHandler: RequestHandler {
    let sessions: QuestionnaireSessionStore
    let definitions: PublishedDefinitions

    func handle(_ request: CompareProfiles, context: RequestContext) async throws -> ProfilesCompared {
        guard let first = try await side(request.first, request.questionnaire),
            let second = try await side(request.second, request.questionnaire)
        else {
            let nothing = Likeness(score: nil, coverage: 0)
            return ProfilesCompared(psychological: nothing, physical: nothing)
        }
        let comparison = ProfileComparison(first: first, second: second, traits: request.traits ?? [])
        return ProfilesCompared(
            psychological: comparison.psychological, physical: comparison.physical,
            affinity: comparison.affinity)
    }

    @Loop private func side(_ person: Identifier, _ questionnaire: String) async throws -> ProfileComparison.Side? {
        guard let (scores, answers, hash) = try await sessions.newestScores(of: person, for: questionnaire) else {
            return nil
        }
        let definition = try await definitions.definition(hash).definition
        return ProfileComparison.Side(scores: scores, definition: definition, answers: answers)
    }
}
