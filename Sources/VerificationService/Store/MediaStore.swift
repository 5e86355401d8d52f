import BusProtocol
import Cryptography
import Database
import EventLoop

/// The part of an address before its path.
@Loop final class MediaOrigin {
    /// Empty for a path at the API's address.
    var base: String

    init(base: String) { self.base = base }
}

/// Pictures that people upload: their addresses, whether they have arrived, and their destruction.
///
/// A picture has a row before it has a key or a byte. The row is in `media`, and after the picture's end in
/// `destructions`.
@Loop struct MediaStore {
    let database: Database
    private let signature: KeyedHash
    let origin: MediaOrigin
    /// Called when rows have ended, so that their keys and bytes need not wait for the next round.
    var onDestroy: @Loop () -> Void = {}

    init(database: Database, keys: KeyRing, origin: MediaOrigin) {
        (self.database, self.origin) = (database, origin)
        signature = KeyedHash(keys, purpose: "upload-address")
    }

    // MARK: What other parts of the service need

    /// An upload that was promised to a person, or to a side of a recovery case.
    struct Reserved: Sendable {
        let media: Identifier
        /// Where to send the picture. It is a secret, and belongs in no log.
        let url: String
        let expiresAt: Timestamp
    }

    /// Adds a row that waits for its picture. The caller has counted it.
    ///
    /// - Returns: `nil` if the person is erased.
    func reserve(
        _ purpose: MediaPurpose, contentType: String, length: Int64, for person: Identifier,
        in transaction: Transaction
    ) async throws -> Reserved? {
        let rows = try await transaction.query(
            Self.insert,
            [
                .uuid(.random()), .uuid(person), .text(purpose.rawValue), .text(contentType), .integer(length),
                .integer(UploadLimits.addressLife.components.seconds),
            ])
        guard let row = rows.first else { return nil }
        return reserved(
            try row.uuid("media_id"), owner: person, contentType: contentType, length: length,
            expiresAt: try row.timestamp("expires_at"))
    }

    /// A row of `media` that waits for its picture, with its address.
    ///
    /// - Parameter owner: the person, or the recovery case.
    func reserved(
        _ media: Identifier, owner: Identifier, contentType: String, length: Int64, expiresAt: Timestamp
    ) -> Reserved {
        let address = UploadAddress(
            media: media, owner: owner, contentType: contentType, length: length,
            expires: expiresAt.microsecondsSinceEpoch / 1_000_000)
        return Reserved(media: media, url: origin.base + address.target(signature), expiresAt: expiresAt)
    }

    /// Whether a person's picture for this purpose has arrived, locked until the transaction ends.
    func hasArrived(
        _ media: Identifier, _ purpose: MediaPurpose, of person: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        try await !transaction.query(Self.arrived, [.uuid(media), .text(purpose.rawValue), .uuid(person)]).isEmpty
    }

    /// Ends a picture. The transaction removes its row. Its key and its bytes follow within seconds, even if this
    /// replica stops.
    ///
    /// - Parameter reason: lower-case letters and underscores, for the audit trail.
    func destroy(_ media: Identifier, because reason: String, in transaction: Transaction) {
        destroy(Self.end("media_id = $1", "$2"), [.uuid(media), .text(reason)], in: transaction)
    }

    /// Ends all pictures of a person, or those for one purpose.
    func destroyAll(
        of person: Identifier, for purpose: MediaPurpose? = nil, because reason: String, in transaction: Transaction
    ) {
        destroy(
            Self.end("person_id = $1 AND ($3::text IS NULL OR purpose = $3)", "$2"),
            [.uuid(person), .text(reason), .text(purpose?.rawValue)], in: transaction)
    }

    /// Ends the pictures that a statement of ``end(_:_:)`` names.
    func destroy(_ pictures: Statement, _ values: [SQLValue], in transaction: Transaction) {
        transaction.send(pictures, values)
        transaction.afterCommit(onDestroy)
    }

    // MARK: Uploads

    /// Counts one more upload of a person. Their other uploads wait until the transaction ends.
    ///
    /// - Returns: the uploads that were open, those begun earlier today, and the time until tomorrow (UTC); `nil` if the
    ///   person is erased.
    func count(
        for person: Identifier, in transaction: Transaction
    ) async throws -> (open: Int64, today: Int64, untilTomorrow: Duration)? {
        Erasure.wait(for: person, in: transaction)
        return try await transaction.query(Self.count, [.uuid(person)]).first.map {
            (try $0.integer("open"), try $0.integer("uploads") - 1, .seconds(try $0.integer("seconds")))
        }
    }

    /// Reads the address of an upload; `nil` if this service did not sign it.
    func address(path: String, query: String?) -> UploadAddress? {
        UploadAddress(path: path, query: query, signature)
    }

    /// Uses an address up.
    ///
    /// - Returns: false if it was used before, or if the upload is over.
    func begin(_ address: UploadAddress) async throws -> Bool {
        try await !database.write(
            Self.begin,
            [.uuid(address.media), .uuid(address.owner), .integer(UploadLimits.arrival.components.seconds)]
        ).isEmpty
    }

    /// The purpose of a picture that is arriving; `nil` if its upload is over.
    func arriving(_ media: Identifier) async throws -> MediaPurpose? {
        try await database.read(Self.selectArriving, [.uuid(media)]).first
            .flatMap { MediaPurpose(rawValue: try $0.text("purpose")) }
    }

    /// A picture could not be taken, and nothing of it was written.
    func abandon(_ media: Identifier) async throws {
        _ = try await database.write("DELETE FROM media WHERE media_id = $1 AND state = 'arriving'", [.uuid(media)])
    }

    /// Records that a picture has arrived, and that its key and its bytes are written.
    ///
    /// - Returns: false if its row ended meanwhile. Then its key and its bytes are due to be destroyed.
    func store(_ media: Identifier, _ purpose: MediaPurpose, length: Int) async throws -> Bool {
        let rows = try await database.write(
            Self.store, [.uuid(media), .integer(Int64(length)), .integer(purpose.life.components.seconds)])
        guard rows.isEmpty else { return true }
        try await destroyIfEnded(media, purpose)
        return false
    }

    /// Orders again that a picture be destroyed, if its row ended while its key or its bytes were written.
    func destroyIfEnded(_ media: Identifier, _ purpose: MediaPurpose) async throws {
        _ = try await database.write(Self.destroyIfEnded, [.uuid(media), .text(purpose.rawValue), .text("withdrawn")])
    }

    // MARK: Statements

    private static let insert: Statement = """
        INSERT INTO media (media_id, person_id, purpose, content_type, length, expires_at)
        SELECT $1, $2, $3, $4, $5, date_trunc('second', clock_timestamp()) + make_interval(secs => $6)
        WHERE NOT is_erased($2) RETURNING media_id, expires_at
        """
    private static let arrived: Statement = """
        SELECT 1 FROM media WHERE media_id = $1 AND purpose = $2 AND person_id = $3 AND state = 'stored' FOR UPDATE
        """
    private static let count: Statement = """
        INSERT INTO upload_counts AS c (person_id, day, uploads)
        SELECT $1, (clock_timestamp() AT TIME ZONE 'UTC')::date, 1 WHERE NOT is_erased($1)
        ON CONFLICT (person_id) DO UPDATE SET day = excluded.day,
            uploads = CASE WHEN c.day = excluded.day THEN c.uploads + 1 ELSE 1 END
        RETURNING uploads, (SELECT count(*) FROM media
                WHERE person_id = $1 AND state <> 'stored' AND expires_at > clock_timestamp()) AS open,
            ceil(extract(epoch FROM (day + 1)::timestamp - clock_timestamp() AT TIME ZONE 'UTC'))::bigint AS seconds
        """
    private static let begin: Statement = """
        UPDATE media SET state = 'arriving', expires_at = clock_timestamp() + make_interval(secs => $3)
        WHERE media_id = $1 AND coalesce(person_id, case_id) = $2 AND state = 'awaited'
            AND expires_at > clock_timestamp()
        RETURNING media_id
        """
    private static let selectArriving: Statement = """
        SELECT purpose FROM media WHERE media_id = $1 AND state = 'arriving'
        """
    /// It does the same work for a picture that nobody may see. So its sender cannot tell the difference by the
    /// response time.
    private static let store: Statement = """
        UPDATE media SET state = 'stored', length = $2,
            expires_at = clock_timestamp() + CASE WHEN is_unread THEN interval '0' ELSE make_interval(secs => $3) END
        WHERE media_id = $1 AND state = 'arriving' RETURNING media_id
        """
    private static let destroyIfEnded: Statement = """
        INSERT INTO destructions (media_id, purpose, reason, due_at)
        SELECT $1, $2, $3, clock_timestamp() WHERE NOT EXISTS (SELECT FROM media WHERE media_id = $1)
        ON CONFLICT (media_id) DO UPDATE SET due_at = excluded.due_at, key_destroyed_at = NULL
        """

    /// A withdrawal destroys within a minute, also what a replica had begun to write when it was killed.
    private static let writing = "30 s"

    /// Moves rows of `media` to `destructions`. It drops rows of pictures that never arrived, since they have no bytes.
    /// A picture that is arriving may be written at this moment, so its destruction waits for `writing`. A replica
    /// that takes longer orders its destruction anew; see ``store(_:_:length:)``.
    static func end(_ condition: String, _ reason: String) -> Statement {
        Statement(
            """
            WITH gone AS (DELETE FROM media WHERE \(condition) RETURNING media_id, purpose, state, expires_at),
            noted AS (
                INSERT INTO destructions (media_id, purpose, reason, due_at)
                SELECT media_id, purpose, \(reason),
                    CASE state WHEN 'arriving' THEN least(expires_at, clock_timestamp() + interval '\(writing)')
                        ELSE clock_timestamp() END
                FROM gone WHERE state <> 'awaited' ON CONFLICT (media_id) DO NOTHING)
            SELECT count(*) AS ended FROM gone
            """)
    }
}
