import BusProtocol
import Cryptography
import Database
import EventLoop

/// The photos of profiles: pictures of `media` with a place.
@Loop struct PhotoStore {
    let media: MediaStore
    private let signature: KeyedHash

    init(media: MediaStore, keys: KeyRing) {
        self.media = media
        signature = KeyedHash(keys, purpose: "photo-address")
    }

    /// A person's photos in their order.
    func photos(of person: Identifier) async throws -> [Identifier] {
        try await media.database.read(Self.list, [.uuid(person)]).map { try $0.uuid("media_id") }
    }

    /// The photos in their order, and the pictures for the profile that have no place. Other changes of the person's
    /// photos wait until the transaction ends.
    func locked(
        _ person: Identifier, in transaction: Transaction
    ) async throws -> (photos: [Identifier], arrived: [Identifier]) {
        Erasure.wait(for: person, in: transaction)
        let rows = try await transaction.query(Self.lock, [.uuid(person)])
        var (photos, arrived) = ([Identifier](), [Identifier]())
        for row in rows {
            let media = try row.uuid("media_id")
            if try row.optionalInteger("position") == nil { arrived.append(media) } else { photos.append(media) }
        }
        return (photos, arrived)
    }

    /// Gives the pictures their places, and destroys those that lose theirs.
    func write(_ change: PhotoOrder.Change, in transaction: Transaction) {
        for id in change.removed { media.destroy(id, because: "removed", in: transaction) }
        for (index, id) in change.places.enumerated() {
            transaction.send(Self.place, [.uuid(id), .integer(Int64(index + 1))])
        }
    }

    /// The address of a photo at this time.
    func url(of photo: Identifier, at now: Timestamp) -> String {
        media.origin.base + PhotoAddress(of: photo, at: now).target(signature)
    }

    /// The address of a capture, for a reviewer.
    func url(ofCapture capture: Identifier, at now: Timestamp) -> String {
        media.origin.base + PhotoAddress(ofCapture: capture, at: now).target(signature)
    }

    /// Reads the address of a photo; `nil` if this service did not sign it.
    func address(path: String, query: String?) -> PhotoAddress? {
        PhotoAddress(path: path, query: query, signature)
    }

    /// The purpose and the content type of a photo that has a place now, or of a capture.
    func shown(_ photo: Identifier) async throws -> (purpose: MediaPurpose, contentType: String)? {
        guard let row = try await media.database.read(Self.show, [.uuid(photo)]).first,
            let purpose = MediaPurpose(rawValue: try row.text("purpose"))
        else { return nil }
        return (purpose, try row.text("content_type"))
    }

    private static let list: Statement = """
        SELECT media_id FROM media WHERE person_id = $1 AND position IS NOT NULL ORDER BY position
        """
    private static let lock: Statement = """
        SELECT media_id, position FROM media WHERE person_id = $1 AND purpose = 'profile_photo' AND state = 'stored'
        ORDER BY position FOR UPDATE
        """
    private static let place: Statement = "UPDATE media SET position = $2, expires_at = NULL WHERE media_id = $1"
    private static let show: Statement = """
        SELECT purpose, content_type FROM media
        WHERE media_id = $1 AND (position IS NOT NULL OR purpose = 'verification' AND state = 'stored')
        """
}
