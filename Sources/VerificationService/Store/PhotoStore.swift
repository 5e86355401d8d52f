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

    /// The pictures of a person for the profile.
    struct Known {
        /// Those with a place, in their order.
        var photos: [Photo] = []
        /// Those that have arrived and have no place.
        var arrived: [Identifier] = []
        /// The photo that profile was last told of.
        var told: PublishedPhoto?
    }

    /// The photo that profile knows.
    struct PublishedPhoto: Equatable {
        let media: Identifier
        /// Without its signature; empty if profile must be told again.
        let address: String
    }

    /// A person's photos in their order.
    func photos(of person: Identifier) async throws -> [Photo] {
        try await media.database.read(Self.list, [.uuid(person)]).map { try Self.photo($0) }
    }

    /// A person's pictures for the profile. Other changes of them wait until the transaction ends.
    func locked(_ person: Identifier, in transaction: Transaction) async throws -> Known {
        Erasure.wait(for: person, in: transaction)
        var known = Known()
        for row in try await transaction.query(Self.lock, [.uuid(person)]) {
            let photo = try Self.photo(row)
            if try row.optionalInteger("position") == nil {
                known.arrived.append(photo.media)
            } else {
                known.photos.append(photo)
            }
            if let address = try row.optionalText("told_address") {
                known.told = PublishedPhoto(media: photo.media, address: address)
            }
        }
        return known
    }

    private static func photo(_ row: Row) throws -> Photo {
        Photo(
            media: try row.uuid("media_id"),
            moderation: Moderation(rawValue: try row.text("moderation")) ?? .pending)
    }

    /// Records whether a judge is asked about a photo. Reviewers do not see it meanwhile.
    func note(_ photo: Identifier, isWithJudge: Bool, in transaction: Transaction) {
        transaction.send(Self.noteJudge, [.uuid(photo), .bool(isWithJudge)])
    }

    /// The owner of a photo about which a judge is asked.
    func ownerOfJudged(_ photo: Identifier) async throws -> Identifier? {
        try await media.database.read(
            "SELECT person_id FROM media WHERE media_id = $1 AND judge_asked_at IS NOT NULL AND moderation = 'pending'",
            [.uuid(photo)]
        ).first?.uuid("person_id")
    }

    /// Gives the pictures their places, from the first.
    func place(_ photos: [Photo], in transaction: Transaction) {
        for (index, photo) in photos.enumerated() {
            transaction.send(
                Self.place, [.uuid(photo.media), .integer(Int64(index + 1)), .text(photo.moderation.rawValue)])
        }
    }

    /// Records the photo of which profile is told; `nil` for none.
    func note(_ told: PublishedPhoto?, of person: Identifier, in transaction: Transaction) {
        transaction.send(Self.forget, [.uuid(person)])
        if let told { transaction.send(Self.told, [.uuid(told.media), .text(told.address)]) }
    }

    // MARK: Addresses

    /// The address of a photo at this time.
    ///
    /// - Parameter isApproved: whether others may see the photo. Otherwise its address, which the owner could pass on, has
    ///   a short life.
    func url(of photo: Identifier, isApproved: Bool, at now: Timestamp) -> String {
        let address =
            isApproved
            ? PhotoAddress(of: photo, at: now) : PhotoAddress(forOneLookAt: photo, byOwner: true, at: now)
        return media.origin.base + address.target(signature)
    }

    /// The address of a capture, a document, a photo or evidence, for one look of a reviewer.
    func url(forOneLookAt picture: Identifier, at now: Timestamp) -> String {
        media.origin.base + PhotoAddress(forOneLookAt: picture, at: now).target(signature)
    }

    /// The address of a photo without its signature.
    func address(of photo: Identifier) -> String { media.origin.base + PhotoAddress.path(of: photo) }

    /// The key that signs the address of this photo alone.
    func key(of photo: Identifier) -> AddressKey { PhotoAddress.key(of: photo, signature) }

    /// Reads the address of a photo; `nil` if this service did not sign it.
    func address(path: String, query: String?) -> PhotoAddress? {
        PhotoAddress(path: path, query: query, signature)
    }

    /// The content that is served at the address of a picture.
    struct Shown {
        let purpose: MediaPurpose
        let contentType: String
        /// Whether smaller sizes were made, as far as possible.
        let hasSizes: Bool
    }

    /// A photo that has a place now, a capture, a document, or evidence.
    func shown(_ photo: Identifier) async throws -> Shown? {
        guard let row = try await media.database.read(Self.show, [.uuid(photo)]).first,
            let purpose = MediaPurpose(rawValue: try row.text("purpose"))
        else { return nil }
        return Shown(
            purpose: purpose, contentType: try row.text("content_type"), hasSizes: try row.bool("has_sizes"))
    }

    /// Marks some photos that profile knows under another address than this listener's.
    ///
    /// - Returns: whether there may be more.
    func markOtherAddresses() async throws -> Bool {
        let folder = media.origin.base + PhotoAddress.folder
        // In sorted order, the addresses in a folder end before the folder's name with `0` in place of the final `/`.
        let behind = folder.dropLast() + "0"
        let marked = try await media.database.write(Self.mark, [.text(folder), .text(String(behind))])
        return marked.count == 500
    }

    /// Some people whose photo must be sent to profile again.
    func untold(atMost limit: Int64) async throws -> [Identifier] {
        try await media.database.read(Self.untold, [.integer(limit)]).map { try $0.uuid("person_id") }
    }

    // MARK: Sizes

    /// An approved photo without its sizes.
    struct Unsized: Equatable {
        let media: Identifier
        /// From 1 on.
        let attempt: Int
    }

    /// Takes the newest photo whose sizes are due. The photo is due again in a minute, then in ten, then in a hundred.
    func claimUnsized() async throws -> Unsized? {
        guard let row = try await media.database.write(Self.claimUnsized).first else { return nil }
        return Unsized(media: try row.uuid("media_id"), attempt: Int(try row.integer("sizes_attempts")))
    }

    /// Takes back an attempt that failed for a reason outside the picture and the program.
    func forgetAttempt(at photo: Identifier) async throws {
        _ = try await media.database.write(Self.forgetAttempt, [.uuid(photo)])
    }

    /// Records that the sizes of a photo were made, as far as possible.
    ///
    /// - Returns: false if the photo is gone.
    func noteSizes(of photo: Identifier) async throws -> Bool {
        try await !media.database.write(Self.noteSizes, [.uuid(photo)]).isEmpty
    }

    // MARK: Reviews

    /// The photos that wait for a reviewer, the oldest first.
    func queue() async throws -> [PhotoReview] {
        try await media.database.read(Self.selectQueue).map { try Self.review($0) }
    }

    /// A photo that waits for a reviewer, with its owner.
    func review(of photo: Identifier) async throws -> (review: PhotoReview, owner: Identifier)? {
        guard let row = try await media.database.read(Self.selectReview, [.uuid(photo)]).first else { return nil }
        return (try Self.review(row), try row.uuid("person_id"))
    }

    /// The owner of a photo; `nil` if there is no such photo.
    func owner(of photo: Identifier) async throws -> Identifier? {
        try await media.database.read(
            "SELECT person_id FROM media WHERE media_id = $1 AND purpose = 'profile_photo'", [.uuid(photo)]
        ).first?.uuid("person_id")
    }

    /// Stores what a reviewer decided.
    ///
    /// - Parameter life: how long the owner still sees the photo; `nil` without an end.
    func decide(
        _ photo: Identifier, _ moderation: Moderation, keepingFor life: Duration?, in transaction: Transaction
    ) {
        transaction.send(
            Self.decide,
            [.uuid(photo), .text(moderation.rawValue), .integer(life?.components.seconds)])
    }

    private static func review(_ row: Row) throws -> PhotoReview {
        PhotoReview(mediaId: try row.uuid("media_id"), uploadedAt: try row.timestamp("created_at"))
    }

    // MARK: Statements

    private static let list: Statement = """
        SELECT media_id, moderation FROM media WHERE person_id = $1 AND position IS NOT NULL ORDER BY position
        """
    private static let lock: Statement = """
        SELECT media_id, position, moderation, told_address FROM media
        WHERE person_id = $1 AND purpose = 'profile_photo' AND state = 'stored' ORDER BY position FOR UPDATE
        """
    /// A refused photo keeps the time at which it ends.
    private static let place: Statement = """
        UPDATE media SET position = $2, moderation = $3, expires_at = CASE WHEN $3 = 'refused' THEN expires_at END
        WHERE media_id = $1
        """
    private static let noteJudge: Statement = """
        UPDATE media SET judge_asked_at = CASE WHEN $2 THEN clock_timestamp() END WHERE media_id = $1
        """
    private static let forget: Statement = """
        UPDATE media SET told_address = NULL WHERE person_id = $1 AND told_address IS NOT NULL
        """
    private static let told: Statement = "UPDATE media SET told_address = $2 WHERE media_id = $1"
    /// It skips a locked row, because the change that holds the lock tells profile itself.
    private static let mark: Statement = """
        UPDATE media SET told_address = '' WHERE media_id IN (
            SELECT media_id FROM media WHERE told_address <> ''
                AND (told_address COLLATE "C" < $1 OR told_address COLLATE "C" >= $2)
            LIMIT 500 FOR UPDATE SKIP LOCKED)
        RETURNING media_id
        """
    private static let untold: Statement = "SELECT DISTINCT person_id FROM media WHERE told_address = '' LIMIT $1"
    /// Whether a photo waits for a reviewer. A question to the judge ends after a day, unless it became a dead letter.
    static let waitsForReviewer = """
        moderation = 'pending' AND (judge_asked_at IS NULL OR judge_asked_at < clock_timestamp() - interval '25 hours')
        """
    private static let selectQueue = Statement(
        "SELECT media_id, created_at FROM media WHERE \(waitsForReviewer) ORDER BY created_at LIMIT 100")
    private static let selectReview: Statement = """
        SELECT media_id, created_at, person_id FROM media WHERE media_id = $1 AND moderation = 'pending'
        """
    private static let decide: Statement = """
        UPDATE media SET moderation = $2, expires_at = clock_timestamp() + make_interval(secs => $3) WHERE media_id = $1
        """
    private static let claimUnsized: Statement = """
        UPDATE media SET sizes_due_at = clock_timestamp() + interval '1 minute' * power(10, sizes_attempts),
            sizes_attempts = sizes_attempts + 1
        WHERE media_id = (
            SELECT media_id FROM media
            WHERE position IS NOT NULL AND moderation = 'approved' AND sizes_due_at <= now()
            ORDER BY sizes_due_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING media_id, sizes_attempts
        """
    private static let forgetAttempt: Statement = """
        UPDATE media SET sizes_attempts = sizes_attempts - 1 WHERE media_id = $1
        """
    private static let noteSizes: Statement = """
        UPDATE media SET sizes_due_at = NULL WHERE media_id = $1 RETURNING media_id
        """
    private static let show: Statement = """
        SELECT purpose, content_type, sizes_due_at IS NULL AS has_sizes FROM media
        WHERE media_id = $1 AND (position IS NOT NULL
            OR purpose IN ('verification', 'document', 'recovery_evidence') AND state = 'stored' AND NOT is_unread)
        """
}
