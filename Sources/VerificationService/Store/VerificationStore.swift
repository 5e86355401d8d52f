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

    func verification(of person: Identifier) async throws -> Verification? {
        try await database.read(Self.select, [.uuid(person)]).first.flatMap { try Self.verification($0) }
    }

    /// The person of a session; `nil` if there is no such session, or not any more.
    func person(of session: Identifier) async throws -> Identifier? {
        try await database.read("SELECT person_id FROM verifications WHERE session_id = $1", [.uuid(session)]).first?
            .uuid("person_id")
    }

    /// The person's verification. Other changes of it wait until the transaction ends.
    func locked(_ person: Identifier, in transaction: Transaction) async throws -> Known {
        Erasure.wait(for: person, in: transaction)
        guard let row = try await transaction.query(Self.select, [.uuid(person)]).first else {
            throw DatabaseError.aborted
        }
        let verification = try Self.verification(row)
        return Known(
            person: person, verification: verification ?? Verification(), isStored: verification != nil,
            now: try row.timestamp("now"))
    }

    /// Writes a verification. Whoever never agreed gets no row.
    ///
    /// - Returns: false if the person is erased.
    func write(_ verification: Verification, over known: Known, in transaction: Transaction) async throws -> Bool {
        guard let session = verification.session, let consent = verification.consent ?? known.verification.consent
        else {
            return known.isStored ? try await end(verification, of: known.person, in: transaction) : true
        }
        return try await !transaction.query(
            Self.put,
            [
                .uuid(known.person), .uuid(session), .text(verification.status.rawValue),
                .bool(verification.consent != nil), .text(consent.textVersion), .text(consent.locale),
                .timestamp(consent.givenAt), .integer(Int64(verification.tries)), .integer(Int64(verification.begun)),
                .timestamp(verification.countedFrom), .uuid(verification.media), .timestamp(verification.since),
                .timestamp(verification.changedAt), .timestamp(verification.verifiedAt), .text(verification.check),
                .bool(verification.needsReviewers),
            ]
        ).isEmpty
    }

    /// Changes what may change once the consent was taken back.
    private func end(_ verification: Verification, of person: Identifier, in transaction: Transaction) async throws
        -> Bool
    {
        try await !transaction.query(
            Self.update,
            [.uuid(person), .text(verification.status.rawValue), .timestamp(verification.changedAt)]
        ).isEmpty
    }

    /// What waits for a reviewer, the oldest first.
    func queue() async throws -> [VerificationReview] {
        try await database.read(Self.selectQueue).compactMap { try Self.review($0) }
    }

    func review(of session: Identifier) async throws -> (review: VerificationReview, known: Known)? {
        guard let row = try await database.read(Self.selectReview, [.uuid(session)]).first,
            let review = try Self.review(row), let verification = try Self.verification(row)
        else { return nil }
        return (
            review,
            Known(
                person: try row.uuid("person_id"), verification: verification, isStored: true,
                now: try row.timestamp("now"))
        )
    }

    private static func review(_ row: Row) throws -> VerificationReview? {
        guard let verification = try verification(row), let session = verification.session,
            let since = verification.since, let due = verification.dueAt
        else { return nil }
        return VerificationReview(
            sessionId: session, completedAt: since, decideBefore: due, attempts: Int64(verification.tries))
    }

    private static func verification(_ row: Row) throws -> Verification? {
        guard let status = try row.optionalText("status").flatMap(Verification.Status.init) else { return nil }
        var known = Verification()
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
        known.check = try row.optionalText("provider_session")
        known.since = try row.optionalTimestamp("since")
        known.changedAt = try row.optionalTimestamp("changed_at")
        known.verifiedAt = try row.optionalTimestamp("verified_at")
        return known
    }

    private static let select: Statement = """
        SELECT clock_timestamp() AS now, v.* FROM (VALUES (1)) AS one LEFT JOIN verifications v ON v.person_id = $1
        """
    private static let put: Statement = """
        INSERT INTO verifications AS v (person_id, session_id, status, is_consent_in_force, consent_version,
            consent_locale, consent_given_at, tries, begun, counted_from, media_id, since, changed_at, verified_at,
            provider_session, needs_reviewers)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 WHERE NOT is_erased($1)
        ON CONFLICT (person_id) DO UPDATE SET session_id = excluded.session_id, status = excluded.status,
            is_consent_in_force = excluded.is_consent_in_force, consent_version = excluded.consent_version,
            consent_locale = excluded.consent_locale, consent_given_at = excluded.consent_given_at,
            tries = excluded.tries, begun = excluded.begun, counted_from = excluded.counted_from,
            media_id = excluded.media_id, since = excluded.since, changed_at = excluded.changed_at,
            verified_at = excluded.verified_at, provider_session = excluded.provider_session,
            needs_reviewers = excluded.needs_reviewers
        RETURNING person_id
        """
    private static let update: Statement = """
        UPDATE verifications SET status = $2, changed_at = $3 WHERE person_id = $1 RETURNING person_id
        """
    private static let selectQueue: Statement = """
        SELECT * FROM verifications WHERE status = 'manual_review' ORDER BY since LIMIT 100
        """
    private static let selectReview: Statement = """
        SELECT clock_timestamp() AS now, * FROM verifications WHERE session_id = $1 AND status = 'manual_review'
        """
}
