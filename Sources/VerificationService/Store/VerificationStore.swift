import BusProtocol
import Database
import EventLoop

/// Reads and writes people's verifications.
@Loop struct VerificationStore {
    let database: Database

    /// A verification with its person and whether it has a row.
    struct Known: Sendable {
        let person: Identifier
        let verification: Verification
        let isStored: Bool
        /// The database's time.
        let now: Timestamp
    }

    /// The verification whose newest session this is; `nil` if there is no such session, or if it is no longer the
    /// newest.
    func verification(of session: Identifier) async throws -> Known? {
        try await database.read(Self.selectSession, [.uuid(session)]).first.flatMap { try Self.known($0) }
    }

    /// The person's verification. Other changes of it wait until the transaction ends.
    func locked(_ person: Identifier, _ tier: Tier, in transaction: Transaction) async throws -> Known {
        Erasure.wait(for: person, in: transaction)
        guard let row = try await transaction.query(Self.select, [.uuid(person), .text(tier.rawValue)]).first else {
            throw DatabaseError.aborted
        }
        return try Self.known(row)
            ?? Known(
                person: person, verification: Verification(tier: tier), isStored: false, now: try row.timestamp("now"))
    }

    /// The person's verification with this session, locked until the transaction ends; `nil` if the session is not their newest
    /// one.
    func locked(
        _ person: Identifier, of session: Identifier, in transaction: Transaction
    ) async throws -> Known? {
        Erasure.wait(for: person, in: transaction)
        return try await transaction.query(Self.selectSession, [.uuid(session)]).first.flatMap { try Self.known($0) }
            .flatMap { $0.person == person ? $0 : nil }
    }

    /// Writes a verification. A person who has never agreed gets no row.
    ///
    /// - Returns: false if the person is erased.
    func write(_ verification: Verification, over known: Known, in transaction: Transaction) async throws -> Bool {
        guard let session = verification.session, let consent = verification.consent ?? known.verification.consent
        else {
            return known.isStored ? try await end(verification, of: known.person, in: transaction) : true
        }
        let own: [SQLValue] =
            verification.tier == .photo
            ? [.text(verification.check), .bool(verification.needsReviewers)] : [.uuid(verification.back)]
        return try await !transaction.query(
            verification.tier == .photo ? Self.putPhoto : Self.putID,
            [
                .uuid(known.person), .uuid(session), .text(verification.status.rawValue),
                .bool(verification.consent != nil), .text(consent.textVersion), .text(consent.locale),
                .timestamp(consent.givenAt), .integer(Int64(verification.tries)), .integer(Int64(verification.begun)),
                .timestamp(verification.countedFrom), .uuid(verification.media), .timestamp(verification.since),
                .timestamp(verification.changedAt), .timestamp(verification.verifiedAt),
            ] + own
        ).isEmpty
    }

    /// Changes only the columns that may change after the consent was withdrawn.
    private func end(_ verification: Verification, of person: Identifier, in transaction: Transaction) async throws
        -> Bool
    {
        try await !transaction.query(
            verification.tier == .photo ? Self.updatePhoto : Self.updateID,
            [.uuid(person), .text(verification.status.rawValue), .timestamp(verification.changedAt)]
        ).isEmpty
    }

    /// The verifications that wait for a reviewer, the oldest first.
    func queue() async throws -> [Known] {
        try await database.read(Self.selectQueue).compactMap { try Self.known($0) }
    }

    /// Figures about pictures and verifications, by name.
    func figures() async throws -> [String: Double] {
        // Requests wait for each other's reads, and with many pictures this one takes long.
        let rows = try await database.transaction { try await $0.query(Self.selectFigures) }
        guard let row = rows.first else { throw DatabaseError.aborted }
        let names = ["captures", "reviews", "destructions_oldest_seconds", "reviews_oldest_seconds"]
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, Double(try row.integer($0))) })
    }

    private static func known(_ row: Row) throws -> Known? {
        guard let status = try row.optionalText("status").flatMap(Verification.Status.init) else { return nil }
        var known = Verification(tier: Tier(rawValue: try row.text("tier")) ?? .photo)
        known.status = status
        known.session = try row.uuid("session_id")
        if try row.bool("is_consent_in_force") {
            known.consent = .init(
                textVersion: try row.text("consent_version"), locale: try row.text("consent_locale"),
                givenAt: try row.timestamp("consent_given_at"))
        }
        known.tries = Int(try row.integer("tries"))
        known.needsReviewers = try row.bool("needs_reviewers")
        known.begun = Int(try row.integer("begun"))
        known.countedFrom = try row.optionalTimestamp("counted_from")
        known.media = try row.optionalUUID("media_id")
        known.back = try row.optionalUUID("back_media_id")
        known.check = try row.optionalText("provider_session")
        known.since = try row.optionalTimestamp("since")
        known.changedAt = try row.optionalTimestamp("changed_at")
        known.verifiedAt = try row.optionalTimestamp("verified_at")
        return Known(
            person: try row.uuid("person_id"), verification: known, isStored: true, now: try row.timestamp("now"))
    }

    // MARK: Statements

    private static let columns = [
        "session_id", "status", "is_consent_in_force", "consent_version", "consent_locale", "consent_given_at", "tries",
        "begun", "counted_from", "media_id", "since", "changed_at", "verified_at",
    ]
    /// The rows of both tiers.
    private static let all = """
        (SELECT 'photo' AS tier, person_id, \(columns.joined(separator: ", ")), provider_session,
            needs_reviewers, NULL::uuid AS back_media_id FROM verifications
        UNION ALL SELECT 'id', person_id, \(columns.joined(separator: ", ")), NULL, false, back_media_id
            FROM id_verifications) AS v
        """
    private static let select = Statement(
        """
        SELECT clock_timestamp() AS now, v.* FROM (VALUES (1)) AS one LEFT JOIN \(all)
            ON v.person_id = $1 AND v.tier = $2
        """)
    private static let selectSession = Statement(
        "SELECT clock_timestamp() AS now, v.* FROM \(all) WHERE session_id = $1")
    private static let selectQueue = Statement(
        """
        SELECT clock_timestamp() AS now, v.* FROM \(all) WHERE status = 'manual_review' ORDER BY since LIMIT 100
        """)
    private static let selectFigures = Statement(
        """
        SELECT
            (SELECT count(*) FROM media WHERE expires_at IS NOT NULL AND state = 'stored' AND purpose <> 'profile_photo')
                AS captures,
            (SELECT coalesce(ceil(extract(epoch FROM clock_timestamp() - min(noted_at))), 0)::bigint FROM destructions)
                AS destructions_oldest_seconds,
            r.count AS reviews, r.seconds AS reviews_oldest_seconds
        FROM (SELECT count(*), coalesce(ceil(extract(epoch FROM clock_timestamp() - min(since))), 0)::bigint AS seconds
            FROM (SELECT since FROM verifications WHERE status = 'manual_review'
                UNION ALL SELECT since FROM id_verifications WHERE status = 'manual_review'
                UNION ALL SELECT created_at FROM media WHERE \(PhotoStore.waitsForReviewer)) AS waiting) AS r
        """)
    private static let putPhoto = put("verifications", ["provider_session", "needs_reviewers"])
    private static let putID = put("id_verifications", ["back_media_id"])
    private static let updatePhoto = update("verifications")
    private static let updateID = update("id_verifications")

    private static func put(_ table: String, _ own: [String]) -> Statement {
        let all = columns + own
        return Statement(
            """
            INSERT INTO \(table) (person_id, \(all.joined(separator: ", ")))
            SELECT $1, \(all.indices.map { "$\($0 + 2)" }.joined(separator: ", ")) WHERE NOT is_erased($1)
            ON CONFLICT (person_id) DO UPDATE
            SET \(all.map { $0 + " = excluded." + $0 }.joined(separator: ", ")) RETURNING person_id
            """)
    }

    private static func update(_ table: String) -> Statement {
        Statement("UPDATE \(table) SET status = $2, changed_at = $3 WHERE person_id = $1 RETURNING person_id")
    }
}
