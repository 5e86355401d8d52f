import BusProtocol
import BusRuntime
import Documents
import EventLoop
import JSONText
import Languages

/// Shows the next comparisons, and opens the visual session if there is none.
struct GetVisualSessionHandler: RequestHandler {
    let service: CaptureService

    func handle(_ request: GetVisualSession, context: RequestContext) async throws -> VisualSession {
        let (capture, _) = try await service.changing(context.person().userID, opening: true) { _ in }
        return service.view(capture, in: .named(context.language))
    }
}

/// Saves choices or defers the rest.
struct SaveVisualChoicesHandler: RequestHandler {
    let service: CaptureService

    func handle(_ request: SaveVisualChoices, context: RequestContext) async throws -> VisualChoicesSaved {
        let person = try context.person().userID
        guard (request.choices == nil) == (request.defer == true) else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [.init(field: "choices", code: "required", message: "Send choices, or defer the rest.")])
        }
        let (capture, results) = try await service.changing(person, opening: false) { capture in
            guard capture.session == request.sessionId else { throw CaptureService.unknown }
            if request.defer == true { capture.defer() }
            return (request.choices ?? []).map { choice in
                let refusal = capture.take(
                    Side(rawValue: choice.choice) ?? .neither, of: choice.presentationId, latencyMs: choice.latencyMs,
                    mutation: choice.mutationId)
                return VisualChoiceResult(
                    presentationId: choice.presentationId, mutationId: choice.mutationId, saved: refusal == nil,
                    code: refusal?.rawValue)
            }
        }
        return VisualChoicesSaved(results: results, session: service.view(capture, in: .named(context.language)))
    }
}

/// Shows the person's preferences as far as they are known.
struct GetVisualProfileHandler: RequestHandler {
    let store: CaptureStore

    func handle(_ request: GetVisualProfile, context: RequestContext) async throws -> VisualProfile {
        guard let profile = try await store.profile(of: context.person().userID) else {
            return VisualProfile(status: "not_started", attributes: [])
        }
        let attributes = try JSONValue.parse(profile.attributes).arrayValue ?? []
        return VisualProfile(
            status: profile.status, confidence: profile.confidence,
            attributes: try attributes.map {
                try WireJSON.decode(VisualAttribute.self, from: CanonicalJSON.bytes(of: $0))
            }, updatedAt: profile.updatedAt, newSessionAt: profile.newSessionAt)
    }
}

/// Tells administrators how people deal with the pictures of a set.
struct GetStimulusStatisticsHandler: RequestHandler {
    let statistics: StatisticsStore
    let drafts: DocumentDrafts

    func handle(_ request: GetStimulusStatistics, context: RequestContext) async throws -> StimulusStatistics {
        try context.requireAdmin()
        let stored = try await drafts.version(request.version, of: StimulusSetDocument.key)
        return try await statistics.statistics(of: StimulusSets.read(stored)).suppressingSmallCounts
    }
}
