import BusProtocol
import Cryptography
import EventLoop
import ServiceRuntime

/// Makes the smaller sizes of photos, once others may see them.
///
/// The row of a photo says that its sizes are due. So if a replica is killed, another one makes them a minute later. A
/// size that the program cannot make is not tried again. If the machine may be the cause of the failure, it is tried
/// three times. If there is no size, the photo itself is served.
@Loop final class PhotoSizing {
    private let photos: PhotoStore
    private let vault: MediaVault
    /// `vipsthumbnail`.
    private let program: ConfinedProgram
    private let log: Log
    private let statistics: VerificationStatistics
    /// Why no sizes are made; `nil` before the first look.
    private var problem: ConfinedProgram.Failure??

    /// The most attempts for one picture, since making its sizes may end the replica.
    nonisolated static let mostAttempts = 3

    init(
        photos: PhotoStore, vault: MediaVault, program: ConfinedProgram, log: Log, statistics: VerificationStatistics
    ) {
        (self.photos, self.vault, self.program, self.log, self.statistics) = (photos, vault, program, log, statistics)
    }

    /// Makes the sizes that are due, if this machine can make them.
    func round() async throws {
        if problem != .some(nil) { await look() }
        guard problem == .some(nil) else { return }
        while !Task.isCancelled, let photo = try await photos.claimUnsized() {
            do {
                try await make(photo)
            } catch let failure as ConfinedProgram.Failure {
                throw failure
            } catch {
                // For example, the store of bytes does not answer.
                try await photos.forgetAttempt(at: photo.media)
                throw error
            }
        }
    }

    /// Checks whether this machine can make sizes, and logs each change.
    private func look() async {
        var found: ConfinedProgram.Failure?
        do { _ = try await program.run(["--version"]) } catch { found = error as? ConfinedProgram.Failure }
        guard problem != .some(found) else { return }
        problem = .some(found)
        statistics.makesSizes = found == nil
        if let found {
            log.warning("photo_sizes_not_made", ["error": .string(found.logName)])
        } else {
            log.info("photo_sizes_made", ["isolation": "landlock, seccomp"])
        }
    }

    private func make(_ photo: PhotoStore.Unsized) async throws {
        if photo.attempt > Self.mostAttempts {
            log.warning("photo_sizes_given_up", ["attempts": .integer(Int64(Self.mostAttempts))])
        } else if let original = try await original(of: photo) {
            for size in PhotoSize.allCases {
                // The child of the next size could outlast the end of this replica.
                guard !Task.isCancelled else { throw CancellationError() }
                guard let picture = try await made(size, of: original, attempt: photo.attempt) else { continue }
                guard try await vault.put(picture, photo.media, size) else { break }
            }
        }
        // The photo may have been destroyed before the last size was written. Nobody can read that size without the
        // key.
        if try await !photos.noteSizes(of: photo.media) { try await vault.removeSizes(of: photo.media) }
    }

    /// The photo's bytes; `nil` if the photo is destroyed, or if its stored bytes were changed and cannot be opened.
    private func original(of photo: PhotoStore.Unsized) async throws -> [UInt8]? {
        do {
            return try await vault.get(photo.media, .profilePhoto)
        } catch SealError.cannotOpen {
            log.error("photo_unreadable", ["media": .string(photo.media.description)])
            return nil
        }
    }

    private func made(_ size: PhotoSize, of original: [UInt8], attempt: Int) async throws -> [UInt8]? {
        do {
            let made = try await program.run(size.arguments, on: original)
            return try await Loop.compute { try size.checked(made, insteadOf: original.count) }
        } catch let failure as ConfinedProgram.Failure where failure.isPassing && attempt < Self.mostAttempts {
            throw failure
        } catch {
            log.warning(
                "photo_size_failed", ["size": .string(size.rawValue), "error": .string(Log.name(of: error))])
            return nil
        }
    }
}

extension ConfinedProgram.Failure: LogNamed {
    package var logName: String { reason }
}
