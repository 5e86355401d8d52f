import BusProtocol
import Database
import EventLoop

/// Evidence in recovery cases: pictures of `media` that belong to a side of a case, and to no person.
@Loop struct EvidenceStore {
    let photos: PhotoStore
    private var database: Database { photos.media.database }

    /// Promises an upload. Recovery has counted it. A repetition finds the row of the first time.
    func reserve(_ request: PromiseEvidence) async throws -> MediaStore.Reserved {
        let rows = try await database.write(
            Self.insert,
            [
                .uuid(request.mediaID), .uuid(request.caseID), .text(request.side), .text(request.contentType),
                .integer(request.length), .integer(UploadLimits.addressLife.components.seconds),
            ])
        guard let row = rows.first else { throw DatabaseError.aborted }
        return photos.media.reserved(
            request.mediaID, owner: request.caseID, contentType: request.contentType, length: request.length,
            expiresAt: try row.timestamp("expires_at"))
    }

    /// The pictures of a case that have arrived and may be seen, the oldest first, with addresses for a minute.
    func pictures(of caseID: Identifier) async throws -> [EvidenceList.Picture] {
        let now = Timestamp.now()
        return try await database.read(Self.list, [.uuid(caseID)]).map { row in
            let media = try row.uuid("media_id")
            return EvidenceList.Picture(
                mediaID: media, side: try row.text("side"), at: try row.timestamp("created_at"),
                url: photos.url(forOneLookAt: media, at: now))
        }
    }

    /// Destroys the pictures of a case. The addresses of pictures that have not arrived still work, because their
    /// sender must not notice the end. A picture that is sent there is destroyed unread.
    func end(_ caseID: Identifier, in transaction: Transaction) {
        transaction.send(Self.blind, [.uuid(caseID)])
        photos.media.destroy(Self.destroy, [.uuid(caseID), .text("case_over")], in: transaction)
    }

    private static let insert: Statement = """
        INSERT INTO media AS m (media_id, purpose, case_id, side, content_type, length, expires_at)
        SELECT $1, 'recovery_evidence', $2, $3, $4, $5,
            date_trunc('second', clock_timestamp()) + make_interval(secs => $6)
        ON CONFLICT (media_id) DO UPDATE SET case_id = m.case_id RETURNING expires_at
        """
    private static let list: Statement = """
        SELECT media_id, side, created_at FROM media
        WHERE case_id = $1 AND state = 'stored' AND NOT is_unread AND expires_at > clock_timestamp()
        ORDER BY created_at, media_id LIMIT 100
        """
    /// If a picture is stored while this statement waits for its row, the next statement destroys it.
    private static let blind: Statement = """
        UPDATE media SET is_unread = true WHERE case_id = $1 AND state <> 'stored' AND NOT is_unread
        """
    private static let destroy = MediaStore.end("case_id = $1 AND state = 'stored'", "$2")
}
