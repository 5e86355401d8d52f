import BusProtocol
import EventLoop
import TestSupport

@testable import VerificationService

/// The real service of verification, with stand-ins for profile and for auth.
@Loop struct VerificationProvider: Provider {
    let stage: ServiceStage
    let decided = EventRecorder<VerificationDecided>()
    let shown = EventRecorder<PhotoChanged>()
    let notices = EventRecorder<NotifyPerson>()

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (VerificationProvider) async throws -> Void
    ) async throws {
        let folder = try ScratchFolder()
        let environment = [
            "VERIFICATION_BLOBS": folder.path + "/blobs", "VERIFICATION_KEY_STORE": folder.path + "/keys",
            // Contracts compare all rows. Without this, the task that makes sizes of pictures would change the rows of
            // photos.
            "VERIFICATION_VIPSTHUMBNAIL": folder.path + "/none",
        ]
        try await ServiceStage.run(VerificationServiceDefinition.definition, environment: environment) { stage in
            let provider = VerificationProvider(stage: stage)
            try stage.answering(as: .profile, provider.decided, provider.shown)
            try stage.answering(as: .auth, provider.notices, Bearers())
            try await stage.untilReady()
            try await body(provider)
            withExtendedLifetime(folder) {}
        }
    }

    var work: [String] { ["destructions"] }

    func accessToken(of actor: Actor) -> String? { Bearers.token(of: actor) }
}
