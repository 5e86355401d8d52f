import Database
import EventLoop
import Foundation
import ServiceRuntime

/// Destroys pictures whose row has ended.
///
/// Any replica does it. It takes rows for a minute, in which no other replica takes them. If the replica is killed or a
/// step fails, the row becomes due again after that minute. Then a replica repeats all steps.
@Loop struct MediaDestruction {
    let store: DestructionStore
    let vault: MediaVault
    let audit: AuditTrail
    let log: Log

    /// The most pictures of one round. Their steps are taken at the same time, so that a bucket that hangs delays a round
    /// by 15 s, and not by so much for each picture. The rows are taken for a minute.
    private static let most = 20

    /// Destroys some pictures that are due: their keys, their bytes, and then the rows together with the audit trail.
    ///
    /// No transaction is open meanwhile, since a slow bucket takes longer than the database waits for one.
    ///
    /// - Returns: whether to look for more now. A picture for which a step failed is due in a minute.
    func round() async throws -> Bool {
        let pictures = try await store.take(atMost: Self.most)
        let unreadable = await succeeded(pictures) { try await vault.destroyKey(of: $0.media) }
        let destroyed = await succeeded(unreadable) {
            try await vault.removeBytes(of: $0.media, MediaPurpose(rawValue: $0.purpose))
        }
        if !destroyed.isEmpty { try await note(destroyed) }
        return pictures.count == Self.most && !Task.isCancelled
    }

    /// The pictures for which a step succeeded. One picture that cannot be removed now must not delay the others.
    private func succeeded(
        _ pictures: [DestructionStore.Picture],
        _ step: @escaping @Loop @Sendable (DestructionStore.Picture) async throws -> Void
    ) async -> [DestructionStore.Picture] {
        let steps = pictures.map { picture in Loop.spawn { try await step(picture) } }
        var done: [DestructionStore.Picture] = []
        for (picture, step) in zip(pictures, steps) {
            do {
                try await step.value
                done.append(picture)
            } catch {
                log.error("media_not_destroyed", ["error": .string(Log.name(of: error))])
            }
        }
        return done
    }

    private func note(_ destroyed: [DestructionStore.Picture]) async throws {
        try await store.database.transaction { transaction in
            for picture in try await store.remove(destroyed, in: transaction) {
                let details = [
                    "media": picture.media.description, "purpose": picture.purpose, "reason": picture.reason,
                ]
                audit.note(AuditAct("media_destroyed", details), on: .service, in: transaction)
            }
        }
    }

    /// Ends files without a row, which exist after an operator restores an older database. It leaves a file alone for
    /// the time that an upload may take.
    func endOrphans() async throws {
        let before = Date(timeIntervalSinceNow: -2 * Double(UploadLimits.arrival.components.seconds))
        for blobs in vault.all { try await blobs.list(before: before) { try await store.endOrphans(among: $0) } }
    }
}
