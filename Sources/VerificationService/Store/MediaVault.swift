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
    private let blobs: any BlobStore
    private let keyStore: MediaFolder
    private let photoKeys: MediaFolder
    private let otherKeys: MediaFolder
    private let sealer: Sealer

    init(blobs: any BlobStore, keyStore: String, keys: KeyRing) {
        self.blobs = blobs
        self.keyStore = MediaFolder(path: keyStore)
        photoKeys = MediaFolder(path: "\(keyStore)/photos")
        otherKeys = MediaFolder(path: "\(keyStore)/captures")
        sealer = Sealer(keys, purpose: "media-key")
    }

    /// Everything that is kept, to find what no row knows.
    var all: [any BlobStore] { [blobs, photoKeys, otherKeys] }

    private func keys(for purpose: MediaPurpose) -> MediaFolder { purpose.mayBeBackedUp ? photoKeys : otherKeys }

    private static func associated(_ id: Identifier, _ purpose: MediaPurpose) -> [UInt8] {
        id.array + Array(purpose.rawValue.utf8)
    }

    /// Makes the folders of keys, and says whether the keys and the bytes are those of the database with this identity. Where
    /// there is no identity, this one is set, but not beside one of another database.
    @Loop func belongs(to home: String) async throws -> Bool {
        let folders = [photoKeys, otherKeys]
        try await Loop.offload { for folder in folders { try folder.makeFolder() } }
        let (stores, wanted): ([any BlobStore], [UInt8]) = ([blobs, keyStore], Array(home.utf8))
        var nameless: [any BlobStore] = []
        for store in stores {
            let known = try await store.home()
            if known.isEmpty { nameless.append(store) } else if known != wanted { return false }
        }
        for store in nameless { try await store.setHome(wanted) }
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
        let (keys, sealer) = (keys(for: purpose), sealer)
        let blob = try await Loop.offload {
            let key = RandomBytes.make(32)
            try keys.write(sealer.seal(key, associated: associated), id)
            return AESGCM.seal(bytes, key: key, associated: associated)
        }
        try await blobs.put(blob, id)
    }

    /// The picture; `nil` once it is destroyed.
    func get(_ id: Identifier, _ purpose: MediaPurpose) async throws -> [UInt8]? {
        let associated = Self.associated(id, purpose)
        let (keys, sealer) = (keys(for: purpose), sealer)
        guard let sealed = try await keys.get(id), let blob = try await blobs.get(id) else { return nil }
        return try await Loop.offload {
            let key = try sealer.open(sealed, associated: associated)
            return try AESGCM.open(blob, key: key, associated: associated)
        }
    }

    /// Destroys the key, and then removes the bytes, which nobody can read any more.
    func destroy(_ id: Identifier) async throws {
        // A file of which no row tells the purpose may have its key in either folder.
        let folders = [photoKeys, otherKeys]
        try await Loop.offload { for folder in folders { try folder.remove(id) } }
        try await blobs.delete(id)
    }
}
