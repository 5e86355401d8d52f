import BusProtocol
import EventLoop
import TestSupport

@testable import VisualPreferenceService

/// The real service of visual preferences, with a stand-in for profile.
@Loop struct VisualPreferenceProvider: Provider {
    let stage: ServiceStage
    let ready = EventRecorder<VisualPreferencesReady>()
    let deferred = EventRecorder<VisualPreferencesDeferred>()

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (VisualPreferenceProvider) async throws -> Void
    ) async throws {
        try await ServiceStage.run(VisualPreferenceServiceDefinition.definition) { stage in
            let provider = VisualPreferenceProvider(stage: stage)
            try stage.answering(as: .profile, provider.ready, provider.deferred)
            // The first replica publishes the stimulus set.
            try await stage.untilReady()
            try await body(provider)
        }
    }

    /// A person with an open session.
    func opened() async throws -> (person: Identifier, session: VisualSession) {
        let person = Identifier.random()
        return (person, try await reply(to: Asked(GetVisualSession(), for: person)))
    }
}
