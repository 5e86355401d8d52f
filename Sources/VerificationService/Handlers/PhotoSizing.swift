import BusProtocol
import EventLoop
import ServiceRuntime

/// Makes the smaller sizes of photos, once others may see them.
///
/// The row of a photo says that its sizes are due, so a replica that is killed loses nothing: another one makes them a minute
/// later. A size that cannot be made is not tried again, and the photo is served in its place.
@Loop final class PhotoSizing {
    private let photos: PhotoStore
    /// `vipsthumbnail`.
    private let program: ConfinedProgram
    private let log: Log
    private let statistics: VerificationStatistics
    /// Why no sizes are made; `nil` before the first look.
    private var problem: ConfinedProgram.Failure??

    init(photos: PhotoStore, program: ConfinedProgram, log: Log, statistics: VerificationStatistics) {
        (self.photos, self.program, self.log, self.statistics) = (photos, program, log, statistics)
    }

    /// Makes what is due, if sizes can be made here.
    func round() async throws {
        if problem != .some(nil) { await look() }
        guard problem == .some(nil) else { return }
        while !Task.isCancelled, let photo = try await photos.claimUnsized() { try await make(photo) }
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

    private func make(_ photo: Identifier) async throws {
        if let vault = photos.media.vault, let original = try await vault.get(photo, .profilePhoto) {
            for size in PhotoSize.allCases {
                // The child of the next size could outlast the end of this replica.
                guard !Task.isCancelled else { return }
                guard let picture = try await made(size, of: original) else { continue }
                guard try await vault.put(picture, photo, size) else { break }
            }
        }
        // Its destruction may have come before the last size was written. Without the key nobody reads that.
        if try await !photos.noteSizes(of: photo) { try await photos.media.vault?.removeSizes(of: photo) }
    }

    private func made(_ size: PhotoSize, of original: [UInt8]) async throws -> [UInt8]? {
        do {
            let made = try await program.run(size.arguments, on: original)
            return try await Loop.compute { try size.checked(made, insteadOf: original.count) }
        } catch let failure as ConfinedProgram.Failure where failure.isPassing {
            throw failure
        } catch {
            log.warning(
                "photo_size_failed", ["size": .string(size.rawValue), "error": .string(Log.name(of: error))])
            return nil
        }
    }
}

extension ConfinedProgram.Failure: LogNamed {
    public var logName: String { reason }
}
