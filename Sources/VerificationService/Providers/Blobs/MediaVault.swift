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
    private let arrivals: String
    private let sealer: Sealer

    /// - Parameter arrivals: the folder of pictures that are still arriving.
    init(blobs: any BlobStore, keyStore: String, arrivals: String, keys: KeyRing) {
        (self.blobs, self.arrivals) = (blobs, arrivals)
        self.keyStore = MediaFolder(path: keyStore)
        photoKeys = MediaFolder(path: "\(keyStore)/photos")
        otherKeys = MediaFolder(path: "\(keyStore)/captures")
        sealer = Sealer(keys, purpose: "media-key")
    }

    /// All stores, for the search for files without a row: keys first, since a bucket may hang.
    var all: [any BlobStore] { [photoKeys, otherKeys, blobs] }

    private func keys(for purpose: MediaPurpose) -> MediaFolder { purpose.mayBeBackedUp ? photoKeys : otherKeys }

    private static func associated(_ id: Identifier, _ purpose: MediaPurpose, _ size: PhotoSize? = nil) -> [UInt8] {
        id.array + Array((purpose.rawValue + (size.map { ".\($0.rawValue)" } ?? "")).utf8)
    }

    /// Makes the folders of keys, and says whether the keys and the bytes belong to the database with this identity. A
    /// store without an identity gets this one, unless another store belongs to another database.
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

    /// Whether the folders of keys belong to the database with this identity. It asks no store of bytes.
    @Loop func hasKeys(of home: String) async throws -> Bool { try await keyStore.home() == Array(home.utf8) }

    /// Whether the key of a picture is there.
    func has(_ id: Identifier, _ purpose: MediaPurpose) async throws -> Bool {
        let keys = keys(for: purpose)
        return try await Loop.offload { try keys.read(BlobName(id)) != nil }
    }

    /// A place for a picture that arrives.
    func spool() async throws -> PictureSpool {
        try await Loop.offload { [arrivals] in try PictureSpool(in: arrivals) }
    }

    /// Writes a picture under a new key, the key first.
    func put(_ bytes: [UInt8], _ id: Identifier, _ purpose: MediaPurpose) async throws {
        let associated = Self.associated(id, purpose)
        let (keys, sealer) = (keys(for: purpose), sealer)
        let blob = try await Loop.offload {
            let key = RandomBytes.make(32)
            try keys.write(sealer.seal(key, associated: associated), BlobName(id))
            return AESGCM.seal(bytes, key: key, associated: associated)
        }
        try await blobs.put(blob, BlobName(id))
    }

    /// Writes a smaller size of a photo under the photo's own key, so that the end of the key is the end of both.
    ///
    /// - Returns: false if the photo is destroyed.
    func put(_ bytes: [UInt8], _ id: Identifier, _ size: PhotoSize) async throws -> Bool {
        let (keys, sealer) = (photoKeys, sealer)
        let blob = try await Loop.offload {
            try keys.read(BlobName(id)).map { sealed in
                let key = try sealer.open(sealed, associated: Self.associated(id, .profilePhoto))
                return AESGCM.seal(bytes, key: key, associated: Self.associated(id, .profilePhoto, size))
            }
        }
        guard let blob else { return false }
        try await blobs.put(blob, BlobName(id, size))
        return true
    }

    /// The picture, or a smaller size of it. It is `nil` once the picture is destroyed, or if there is no such size.
    func get(_ id: Identifier, _ purpose: MediaPurpose, _ size: PhotoSize? = nil) async throws -> [UInt8]? {
        let (keys, sealer) = (keys(for: purpose), sealer)
        guard let sealed = try await keys.get(BlobName(id)), let blob = try await blobs.get(BlobName(id, size)) else {
            return nil
        }
        return try await Loop.offload {
            let key = try sealer.open(sealed, associated: Self.associated(id, purpose))
            return try AESGCM.open(blob, key: key, associated: Self.associated(id, purpose, size))
        }
    }

    /// Destroys the key of a picture. After that, nobody can read the picture's bytes.
    func destroyKey(of id: Identifier) async throws {
        // If no row tells the purpose of a file, its key may be in either folder.
        let folders = [photoKeys, otherKeys]
        try await Loop.offload { for folder in folders { try folder.remove(BlobName(id)) } }
    }

    /// Removes the bytes of a picture.
    ///
    /// - Parameter purpose: `nil` if it is not known.
    func removeBytes(of id: Identifier, _ purpose: MediaPurpose?) async throws {
        if purpose == nil || purpose == .profilePhoto { try await removeSizes(of: id) }
        try await blobs.delete(BlobName(id))
    }

    /// Removes the smaller sizes of a photo.
    func removeSizes(of id: Identifier) async throws {
        for size in PhotoSize.allCases { try await blobs.delete(BlobName(id, size)) }
    }
}
