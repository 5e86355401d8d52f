import BusProtocol
import EventLoop
import TestSupport

@testable import VerificationService

/// The real service of verification, with a stand-in for profile.
@Loop struct VerificationProvider: Provider {
    let stage: ServiceStage
    let decided = EventRecorder<VerificationDecided>()

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (VerificationProvider) async throws -> Void
    ) async throws {
        try await ServiceStage.run(VerificationServiceDefinition.definition) { stage in
            let provider = VerificationProvider(stage: stage)
            try stage.answering(as: .profile, provider.decided)
            try await stage.untilReady()
            try await body(provider)
        }
    }
}
