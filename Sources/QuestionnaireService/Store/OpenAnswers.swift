import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// Seals dates and answers to sensitive questions that were stored open, in all tables.
@Loop struct OpenAnswers {
    let database: Database
    let sealer: AnswerSealer

    /// How many sessions were examined and what was found in them.
    struct Sealed: Sendable {
        var sessions: Int64 = 0
        /// Dates and their digests.
        var dates: Int64 = 0
        /// Answers to sensitive questions and their digests.
        var answers: Int64 = 0
        /// Where to continue if there may be more sessions.
        var next: QuestionnaireSessionCursor?

        fileprivate mutating func count(isDate: Bool) {
            if isDate { dates += 1 } else { answers += 1 }
        }
    }

    /// Seals the open values of some sessions, in one transaction.
    ///
    /// It skips values that change in the meantime, because the change seals them.
    ///
    /// - Parameters:
    ///   - cursor: the session after which to begin; `nil` for the first one.
    ///   - limit: the most sessions.
    func seal(after cursor: QuestionnaireSessionCursor?, limit: Int64) async throws -> Sealed {
        try await database.transaction { transaction in
            let sessions = try await transaction.query(
                Self.page, [.uuid(cursor?.person ?? .least), .uuid(cursor?.session ?? .least), .integer(limit)])
            guard let first = try sessions.first.map(Self.cursor), let last = try sessions.last.map(Self.cursor) else {
                return Sealed()
            }
            let range: [SQLValue] = [
                .uuid(first.person), .uuid(first.session), .uuid(last.person), .uuid(last.session),
            ]
            var found = Sealed(sessions: Int64(sessions.count))
            for place in Self.places { try await seal(place, range, &found, in: transaction) }
            try await sealDigests(range, &found, in: transaction)
            if found.sessions == limit { found.next = last }
            return found
        }
    }

    /// A kind of row that contains answers.
    private struct Place {
        /// Selects each `value` with the columns that identify it: `person_id`, `session_id`, `number` and `question`.
        let find: Statement
        /// Replaces the value with `$5`.
        let seal: Statement
    }

    private func seal(
        _ place: Place, _ range: [SQLValue], _ found: inout Sealed, in transaction: Transaction
    ) async throws {
        let rows = try await transaction.query(place.find, range)
        for row in rows {
            let person = try row.uuid("person_id")
            let value = try JSONValue.parse(try row.json("value"))
            let sealed = sealer.sealed(value, of: person, isSensitive: true)
            found.count(isDate: AnswerSealer.isDate(value))
            transaction.send(
                place.seal,
                [
                    .uuid(person), .uuid(try row.uuid("session_id")), .text(try row.text("question")),
                    .integer(try row.integer("number")), .json(CanonicalJSON.bytes(of: sealed)),
                ])
        }
    }

    private func sealDigests(
        _ range: [SQLValue], _ found: inout Sealed, in transaction: Transaction
    ) async throws {
        let rows = try await transaction.query(Self.openDigests, range)
        for row in rows {
            let person = try row.uuid("person_id")
            found.count(isDate: try row.bool("is_date"))
            transaction.send(
                Self.sealDigest,
                [
                    .uuid(person), .uuid(try row.uuid("session_id")), .uuid(try row.uuid("mutation_id")),
                    .bytes(sealer.sealed(try row.bytes("digest"), of: person)),
                ])
        }
    }

    private static func cursor(_ row: Row) throws -> QuestionnaireSessionCursor {
        QuestionnaireSessionCursor(person: try row.uuid("person_id"), session: try row.uuid("session_id"))
    }

    private static let page: Statement = """
        SELECT person_id, session_id FROM sessions
        WHERE (person_id, session_id) > ($1, $2)
        ORDER BY person_id, session_id LIMIT $3
        """
    private static let ofRange = "(person_id, session_id) >= ($1, $2) AND (person_id, session_id) <= ($3, $4)"
    // Selects the digests of every question that ever had a sealed answer. The history was sealed before. A digest does
    // not show which write had the answer, and a write that changes nothing has no revision.
    private static let openDigests = Statement(
        """
        SELECT person_id, session_id, mutation_id, digest, NOT EXISTS (
            SELECT FROM sessions s JOIN sensitive_questions q ON q.questionnaire = s.questionnaire
            WHERE s.person_id = m.person_id AND s.session_id = m.session_id
                AND q.question = split_part(m.question, '/', 1)) AS is_date
        FROM mutations m
        WHERE \(ofRange) AND octet_length(digest) = \(AnswerSealer.digestLength) AND EXISTS (
            SELECT FROM answer_history h
            WHERE h.person_id = m.person_id AND h.session_id = m.session_id AND h.question = m.question
                AND is_sealed_date(h.value))
        """)
    private static let sealDigest: Statement = """
        UPDATE mutations SET digest = $4 WHERE person_id = $1 AND session_id = $2 AND mutation_id = $3
        """
    private static let places = [
        Place(
            find: Statement(
                """
                SELECT person_id, session_id, revision AS number, question, value FROM answers
                WHERE \(ofRange) AND is_to_be_sealed(person_id, session_id, question, value)
                """),
            seal: """
                UPDATE answers SET value = $5
                WHERE person_id = $1 AND session_id = $2 AND question = $3 AND revision = $4
                    AND is_to_be_sealed(person_id, session_id, question, value)
                """),
        Place(
            find: Statement(
                """
                SELECT person_id, session_id, revision AS number, question, value FROM answer_history
                WHERE \(ofRange) AND is_to_be_sealed(person_id, session_id, question, value)
                """),
            seal: "SELECT seal_history($1, $2, $3, $4, $5)"),
        Place(
            find: Statement(
                """
                SELECT person_id, session_id, number::bigint AS number, key AS question, e.value -> 'value' AS value
                FROM snapshots, jsonb_each(answers) AS e
                WHERE \(ofRange) AND is_to_be_sealed(person_id, session_id, key, e.value -> 'value')
                """),
            seal: "SELECT seal_snapshot($1, $2, $3, $4, $5)"),
        Place(
            find: Statement(
                """
                SELECT person_id, session_id, number::bigint AS number, key AS question, e.value -> 'value' AS value
                FROM session_migrations, jsonb_each(before) AS e
                WHERE \(ofRange) AND is_to_be_sealed(person_id, session_id, key, e.value -> 'value')
                """),
            seal: """
                UPDATE session_migrations SET before = jsonb_set(before, ARRAY[$3::text, 'value'], $5::jsonb, false)
                WHERE person_id = $1 AND session_id = $2 AND number = $4
                    AND is_to_be_sealed(person_id, session_id, $3::text, before -> $3 -> 'value')
                """),
    ]
}
