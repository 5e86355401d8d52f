import Database
import EventLoop
import Foundation
import ServiceRuntime

/// Destroys pictures whose row has ended.
///
/// The key goes first, and that destroys the picture. Its bytes follow, as fast as their store allows.
///
/// Any replica does it. It takes rows for some time, in which no other replica takes them. If the replica is killed or a
/// step fails, the row becomes due again after that time. Then a replica repeats the step.
@Loop struct MediaDestruction {
    let store: DestructionStore
    let vault: MediaVault
    let audit: AuditTrail
    let log: Log

    /// The most pictures that are taken together. Their steps are taken at the same time, so that a bucket that hangs delays
    /// them by 15 s, and not by so much for each picture.
    private static let most = 20

    /// Destroys the keys of all pictures that are due, and ends those whose time is over. It waits for no bucket.
    func destroyKeys() async throws {
        repeat {
            var pictures: [DestructionStore.Picture]
            repeat {
                pictures = try await store.takeKeys(atMost: Self.most)
                let unreadable = await succeeded(pictures) { try await vault.destroyKey(of: $0.media) }
                if !unreadable.isEmpty { try await store.noteKeys(of: unreadable) }
                guard !Task.isCancelled else { return }
            } while pictures.count == Self.most
        } while try await store.endExpired() > 0
    }

    /// Removes the bytes of all pictures that are due and whose keys are destroyed, and then the rows together with the audit
    /// trail.
    ///
    /// No transaction is open meanwhile, since a slow bucket takes longer than the database waits for one.
    func removeBytes() async throws {
        var pictures: [DestructionStore.Picture]
        repeat {
            pictures = try await store.takeBytes(atMost: Self.most)
            let removed = await succeeded(pictures) {
                // An upload that waited long may have written a new key.
                try await vault.destroyKey(of: $0.media)
                try await vault.removeBytes(of: $0.media, MediaPurpose(rawValue: $0.purpose))
            }
            if !removed.isEmpty { try await note(removed) }
        } while pictures.count == Self.most && !Task.isCancelled
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
