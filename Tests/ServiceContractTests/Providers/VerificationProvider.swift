import BusProtocol
import Database
import EventLoop
import TestSupport

@testable import VerificationService

/// The real service of verification, with stand-ins for profile, for auth and for the uploads.
@Loop struct VerificationProvider: Provider {
    let stage: ServiceStage
    let decided = EventRecorder<VerificationDecided>()
    let notices = EventRecorder<NotifyPerson>()

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (VerificationProvider) async throws -> Void
    ) async throws {
        let definition = VerificationServiceDefinition.definition { _ in ArrivedCaptures() }
        try await ServiceStage.run(definition) { stage in
            let provider = VerificationProvider(stage: stage)
            try stage.answering(as: .profile, provider.decided)
            try stage.answering(as: .auth, provider.notices)
            try await stage.untilReady()
            try await body(provider)
        }
    }
}

/// Uploads that have arrived as soon as they are promised.
private struct ArrivedCaptures: Captures {
    func reserve(
        contentType: String, length: Int64, for person: Identifier, in transaction: Transaction
    ) -> PromisedCapture? {
        PromisedCapture(media: .random(), url: "https://example.com/uploads/1", expiresAt: .now())
    }

    func hasArrived(_ media: Identifier, of person: Identifier, in transaction: Transaction) -> Bool { true }

    func bytes(of media: Identifier) -> [UInt8]? { [1] }

    func destroy(_ media: Identifier, in transaction: Transaction) {}
}
