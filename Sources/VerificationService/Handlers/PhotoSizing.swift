import BusProtocol
import Cryptography
import EventLoop
import ServiceRuntime

/// Makes the smaller sizes of photos, once others may see them.
///
/// The row of a photo says that its sizes are due, so a replica that is killed loses nothing: another one makes them a minute
/// later. A size that the program cannot make is not tried again. One that the machine may have cost is tried three times. Where
/// there is no size, the photo is served.
@Loop final class PhotoSizing {
    private let photos: PhotoStore
    /// `vipsthumbnail`.
    private let program: ConfinedProgram
    private let log: Log
    private let statistics: VerificationStatistics
    /// Why no sizes are made; `nil` before the first look.
    private var problem: ConfinedProgram.Failure??

    /// A picture may end the replica that takes it. It gets no more than these.
    nonisolated static let mostAttempts = 3

    init(photos: PhotoStore, program: ConfinedProgram, log: Log, statistics: VerificationStatistics) {
        (self.photos, self.program, self.log, self.statistics) = (photos, program, log, statistics)
    }

    /// Makes what is due, if sizes can be made here.
    func round() async throws {
        if problem != .some(nil) { await look() }
        guard problem == .some(nil) else { return }
        while !Task.isCancelled, let photo = try await photos.claimUnsized() {
            do {
                try await make(photo)
            } catch let failure as ConfinedProgram.Failure {
                throw failure
            } catch {
                // The store of bytes does not answer, for one.
                try await photos.forgetAttempt(at: photo.media)
                throw error
            }
        }
    }

    /// Says in the log whether sizes are made, when that changes.
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
        } else if let vault = photos.media.vault, let original = try await original(of: photo, in: vault) {
            for size in PhotoSize.allCases {
                // The child of the next size could outlast the end of this replica.
                guard !Task.isCancelled else { throw CancellationError() }
                guard let picture = try await made(size, of: original, attempt: photo.attempt) else { continue }
                guard try await vault.put(picture, photo.media, size) else { break }
            }
        }
        // Its destruction may have come before the last size was written. Without the key nobody reads that.
        if try await !photos.noteSizes(of: photo.media) { try await photos.media.vault?.removeSizes(of: photo.media) }
    }

    /// `nil` if the photo is destroyed, or its bytes have changed, which are never read then.
    private func original(of photo: PhotoStore.Unsized, in vault: MediaVault) async throws -> [UInt8]? {
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
