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

    /// The most pictures of one round.
    private static let most = 20
    /// The time after which a round begins no further step. The rows are taken for a minute, and the steps of one
    /// picture may take 15 s.
    private static let patience = Duration.seconds(40)

    /// Destroys some pictures that are due: their keys, their bytes, and then the rows together with the audit trail.
    ///
    /// No transaction is open meanwhile, since a slow bucket takes longer than the database waits for one.
    ///
    /// - Returns: whether all steps succeeded and there may be more.
    func round() async throws -> Bool {
        let end = MonotonicClock.now() + Self.patience.nanoseconds
        let pictures = try await store.take(atMost: Self.most)
        let unreadable = await succeeded(pictures, until: end) { try await vault.destroyKey(of: $0.media) }
        let destroyed = await succeeded(unreadable, until: end) {
            try await vault.removeBytes(of: $0.media, MediaPurpose(rawValue: $0.purpose))
        }
        if !destroyed.isEmpty { try await note(destroyed) }
        return destroyed.count == Self.most
    }

    /// The pictures for which a step succeeded. One picture that cannot be removed now must not delay the others.
    private func succeeded(
        _ pictures: [DestructionStore.Picture], until end: UInt64,
        _ step: @Loop (DestructionStore.Picture) async throws -> Void
    ) async -> [DestructionStore.Picture] {
        var done: [DestructionStore.Picture] = []
        for picture in pictures where !Task.isCancelled && MonotonicClock.now() < end {
            do {
                try await step(picture)
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
