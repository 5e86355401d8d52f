import BusProtocol
import Cryptography
import EventLoop
import Foundation
import ServiceRuntime

/// The bytes of pictures, each encrypted under a key of its own.
///
/// The keys lie apart from the bytes and from the database, sealed under the service's key ring. The keys of profile
/// photos have a folder of their own, because only they may be backed up.
struct MediaVault: Sendable {
    let blobs: MediaFolder
    private let photoKeys: MediaFolder
    private let otherKeys: MediaFolder
    private let sealer: Sealer
    /// The two folders that are configured.
    private let roots: [String]

    init(blobs: String, keyStore: String, keys: KeyRing) {
        self.blobs = MediaFolder(path: blobs)
        photoKeys = MediaFolder(path: "\(keyStore)/photos")
        otherKeys = MediaFolder(path: "\(keyStore)/captures")
        sealer = Sealer(keys, purpose: "media-key")
        roots = [blobs, keyStore]
    }

    /// The folders, which the service makes at its start.
    var folders: [String] { [blobs.path, photoKeys.path, otherKeys.path] }
    /// The folders with their files, to find those that no row knows.
    var all: [MediaFolder] { [blobs, photoKeys, otherKeys] }

    private func keys(for purpose: MediaPurpose) -> MediaFolder { purpose.mayBeBackedUp ? photoKeys : otherKeys }

    private static func associated(_ id: Identifier, _ purpose: MediaPurpose) -> [UInt8] {
        id.array + Array(purpose.rawValue.utf8)
    }

    /// Whether the folders are those of the database with this identity. A folder without an identity gets this one, but not
    /// beside a folder of another database. It blocks.
    func belongs(to home: String) throws -> Bool {
        let paths = roots.map { "\($0)/database" }
        let known = paths.map { FileManager.default.contents(atPath: $0) ?? Data() }
        guard known.allSatisfy({ $0.isEmpty || $0 == Data(home.utf8) }) else { return false }
        for (path, identity) in zip(paths, known) where identity.isEmpty {
            try Data(home.utf8).write(to: URL(filePath: path), options: .atomic)
        }
        return true
    }

    /// Whether the key of a picture is there.
    func has(_ id: Identifier, _ purpose: MediaPurpose) async throws -> Bool {
        let keys = keys(for: purpose)
        return try await Loop.offload { try keys.read(id) != nil }
    }

    /// Writes a picture under a new key, the key first.
    func put(_ bytes: [UInt8], _ id: Identifier, _ purpose: MediaPurpose) async throws {
        let associated = Self.associated(id, purpose)
        let (keys, blobs, sealer) = (keys(for: purpose), blobs, sealer)
        try await Loop.offload {
            let key = RandomBytes.make(32)
            try keys.write(sealer.seal(key, associated: associated), id)
            try blobs.write(AESGCM.seal(bytes, key: key, associated: associated), id)
        }
    }

    /// The picture; `nil` once it is destroyed.
    func get(_ id: Identifier, _ purpose: MediaPurpose) async throws -> [UInt8]? {
        let associated = Self.associated(id, purpose)
        let (keys, blobs, sealer) = (keys(for: purpose), blobs, sealer)
        return try await Loop.offload {
            guard let sealed = try keys.read(id), let blob = try blobs.read(id) else { return nil }
            let key = try sealer.open(sealed, associated: associated)
            return try AESGCM.open(blob, key: key, associated: associated)
        }
    }

    /// Destroys the key, and then removes the bytes, which nobody can read any more.
    func destroy(_ id: Identifier) async throws {
        // A file of which no row tells the purpose may have its key in either folder.
        let (folders, blobs) = ([photoKeys, otherKeys], blobs)
        try await Loop.offload {
            for keys in folders { try keys.remove(id) }
            try blobs.remove(id)
        }
    }
}
