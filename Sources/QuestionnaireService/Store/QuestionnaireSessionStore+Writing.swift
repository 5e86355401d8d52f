import BusProtocol
import Database
import JSONText

extension QuestionnaireSessionStore {
    /// Sends the writes of a plan without waiting for the results. They take effect when the transaction commits.
    ///
    /// - Parameters:
    ///   - definition: of the session.
    ///   - reply: the JSON reply to a plan with one write. It is stored with the write's mutation id.
    func write(
        _ plan: ResponsePlan, to definition: Definition, of person: Identifier, session: Identifier,
        reply: [UInt8]? = nil, in transaction: Transaction
    ) {
        let row: [SQLValue] = [.uuid(person), .uuid(session)]
        for write in plan.writes {
            if write.changesAnswer {
                transaction.send(Self.saveAnswer, row + columns(write, to: definition, of: person, reply))
            } else {
                transaction.send(
                    Self.rememberMutation,
                    row + mutation(write, to: definition, of: person, reply) + [
                        .text(write.key), .integer(write.mutation?.revision),
                    ])
            }
        }
    }

    /// Writes one changed answer of an open session, in one statement with the writes of other people.
    ///
    /// - Parameters:
    ///   - definition: of the session.
    ///   - session: the session as read without a lock.
    /// - Returns: `false` if the session changed, the mutation was stored, or the question was marked as sensitive in the
    ///   meantime. Nothing was written then.
    func writeAtOnce(
        _ write: ResponsePlan.Write, to definition: Definition, of person: Identifier,
        session: StoredQuestionnaireSession,
        reply: [UInt8]
    ) async throws -> Bool {
        let row: [SQLValue] = [.uuid(person), .uuid(session.id)]
        do {
            let isSensitive = sensitive.contains(write.key, of: definition)
            let columns = columns(write, to: definition, of: person, reply)
            return try await saves.write(row + columns + [.integer(session.revision), .bool(isSensitive)]) != nil
        } catch let error where error.isUniqueViolation {
            return false
        }
    }

    private func columns(
        _ write: ResponsePlan.Write, to definition: Definition, of person: Identifier, _ reply: [UInt8]?
    ) -> [SQLValue] {
        columns(write.key, write.answer, to: definition, of: person) + [.timestamp(write.clientTime)]
            + mutation(write, to: definition, of: person, reply) + Self.described(write.answer) + [
                .timestamp(write.since)
            ]
    }

    private func mutation(
        _ write: ResponsePlan.Write, to definition: Definition, of person: Identifier, _ reply: [UInt8]?
    ) -> [SQLValue] {
        let isSensitive = sensitive.contains(write.key, of: definition)
        let digest = (write.mutation?.digest).map {
            sealer.sealed($0, with: write.answer.value, of: person, isSensitive: isSensitive)
        }
        return [.uuid(write.mutation?.id), .bytes(digest), .json(reply)]
    }

    private static func described(_ answer: Answer) -> [SQLValue] {
        [.text(answer.device), .json(answer.preference.map { CanonicalJSON.bytes(of: $0.json) })]
    }

    private func columns(
        _ key: String, _ answer: Answer, to definition: Definition, of person: Identifier
    ) -> [SQLValue] {
        [
            .text(key), .integer(answer.revision), .text(answer.state.rawValue),
            .json(answer.value.map { CanonicalJSON.bytes(of: sealed($0, at: key, of: definition, person)) }),
            .timestamp(answer.changedAt),
        ]
    }

    private func sealed(
        _ value: JSONValue, at key: String, of definition: Definition, _ person: Identifier
    ) -> JSONValue {
        sealer.sealed(value, of: person, isSensitive: sensitive.contains(key, of: definition))
    }

    /// Replaces the answers of a session, and adds the changed ones to the history. `after` must have every place of
    /// `before`. Otherwise the revisions of a place would start again from 1, and the history has those already.
    func replace(
        _ before: [String: Answer], by after: [String: Answer], in definition: Definition, of person: Identifier,
        session: Identifier, in transaction: Transaction
    ) {
        let row: [SQLValue] = [.uuid(person), .uuid(session)]
        for (key, answer) in after.sorted(by: { $0.key < $1.key }) where before[key] != answer {
            let columns = columns(key, answer, to: definition, of: person)
            transaction.send(
                Self.upsertAnswer, row + columns + [.bool(answer.isStale)] + Self.described(answer))
            // An answer that only became stale is in the history already.
            transaction.send(Self.recallHistory, row + columns + Self.described(answer))
        }
    }

    /// Marks answers as stale, so that their questions are asked again.
    func makeStale(_ keys: [String], of person: Identifier, session: Identifier, in transaction: Transaction) {
        transaction.send(Self.setStale, [.uuid(person), .uuid(session), .textArray(keys)])
    }

    /// Adds a subject, renames it, or brings back a removed one.
    func put(
        _ subject: Subject, of person: Identifier, session: Identifier, at now: Timestamp, in transaction: Transaction
    ) {
        transaction.send(
            Self.putSubject,
            [
                .uuid(person), .uuid(session), .uuid(subject.id), .text(subject.kind), .text(subject.label),
                .timestamp(now), .integer(subject.position),
            ])
    }

    func remove(
        _ subject: Identifier, of person: Identifier, session: Identifier, at now: Timestamp,
        in transaction: Transaction
    ) {
        transaction.send(Self.removeSubject, [.uuid(person), .uuid(session), .uuid(subject), .timestamp(now)])
    }

    /// All subjects of the session, including removed ones.
    func subjects(
        of person: Identifier, session: Identifier, in transaction: Transaction
    ) async throws -> [Subject] {
        try await transaction.query(Self.allSubjects, [.uuid(person), .uuid(session)]).map { row in
            Subject(
                id: try row.uuid("subject"), kind: try row.text("kind"), position: try row.integer("position"),
                label: try row.optionalText("label"))
        }
    }

    /// Opens a completed session again.
    func reopen(_ session: Identifier, of person: Identifier, in transaction: Transaction) async throws {
        _ = try await transaction.query(Self.reopenSession, [.uuid(person), .uuid(session)])
    }

    /// Ends an open session; one that is not open stays as it is.
    func stop(_ session: Identifier, of person: Identifier, in transaction: Transaction) {
        transaction.send(Self.stopSession, [.uuid(person), .uuid(session)])
    }

    /// Sets the status of a completed or amended session, and stores a snapshot of its answers and scores.
    func conclude(
        _ sheet: AnswerSheet, _ scores: JSONValue, as status: SessionStatus, of person: Identifier,
        session: StoredQuestionnaireSession, in transaction: Transaction
    ) {
        let row: [SQLValue] = [.uuid(person), .uuid(session.id), .text(status.rawValue), .timestamp(session.now)]
        let answers = sheet.snapshot { sealed($0, at: $1, of: sheet.definition, person) }
        transaction.send(Self.setStatus, row)
        transaction.send(
            Self.takeSnapshot,
            row + [
                .integer(sheet.definition.version), .bytes(sheet.definition.hash),
                .json(CanonicalJSON.bytes(of: .object(answers))),
                .json(CanonicalJSON.bytes(of: scores)),
            ])
    }

    private static let upsertAnswer: Statement = """
        INSERT INTO answers (person_id, session_id, question, revision, state, value, changed_at, is_stale, device, preference)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (person_id, session_id, question) DO UPDATE
            SET revision = excluded.revision, state = excluded.state, value = excluded.value,
                changed_at = excluded.changed_at, is_stale = excluded.is_stale, device = excluded.device,
                preference = excluded.preference
        """
    private static let recallHistory: Statement = """
        INSERT INTO answer_history (person_id, session_id, question, revision, state, value, changed_at, device, preference)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
        """
    private static let saveAnswer = saving(
        """
        turn AS (
            SELECT 1 AS place, $1::uuid AS person, $2::uuid AS session, $3 AS question, $4::bigint AS revision, $5 AS state,
                $6::jsonb AS value, $7::timestamptz AS changed_at, $8::timestamptz AS client_time, $9::uuid AS mutation,
                $10::bytea AS digest, $11::jsonb AS reply, $12 AS device, $13::jsonb AS preference, $14::timestamptz AS since
        )
        """)
    /// Writes answers of several sessions, each only if its session is unchanged. This replica must also have known
    /// that the question is sensitive, unless no version marks it. Of two rows of one session, only one is written.
    /// Sessions are updated in one order, so that two statements cannot deadlock.
    static let saveAnswers = saving(
        """
        given AS (
            SELECT person, session, question, revision, state, value, changed_at, client_time, mutation, digest, reply,
                device, preference, since, seen, is_sensitive, place
            FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::jsonb[], $7::timestamptz[],
                $8::timestamptz[], $9::uuid[], $10::bytea[], $11::jsonb[], $12::text[], $13::jsonb[], $14::timestamptz[],
                $15::bigint[], $16::boolean[])
                WITH ORDINALITY AS g (person, session, question, revision, state, value, changed_at, client_time, mutation, digest,
                    reply, device, preference, since, seen, is_sensitive, place)
            ORDER BY person, session
        ), turn AS (
            UPDATE sessions s SET revision = s.revision + 1 FROM given g
            WHERE s.person_id = g.person AND s.session_id = g.session AND s.revision = g.seen
                AND s.status = 'in_progress' AND (g.is_sensitive OR NOT EXISTS (
                    SELECT FROM sensitive_questions q
                    WHERE q.questionnaire = s.questionnaire AND q.question = split_part(g.question, '/', 1)))
            RETURNING g.place, g.person, g.session, g.question, g.revision, g.state, g.value, g.changed_at, g.client_time,
                g.mutation, g.digest, g.reply, g.device, g.preference, g.since
        )
        """)
    /// One statement for all rows of a change, so that it is sent, planned and answered once.
    ///
    /// - Parameter turn: common table expressions. The last one is named `turn` and has a row for each change.
    private static func saving(_ turn: String) -> Statement {
        Statement(
            """
            WITH \(turn), answer AS (
                INSERT INTO answers (person_id, session_id, question, revision, state, value, changed_at, device,
                    preference, took)
                SELECT person, session, question, revision, state, value, changed_at, device, preference,
                    CASE WHEN revision = 1 THEN extract(epoch FROM changed_at - coalesce(since, (
                        SELECT opened_at FROM sessions o WHERE o.person_id = person AND o.session_id = session))) END
                FROM turn
                ON CONFLICT (person_id, session_id, question) DO UPDATE
                    SET revision = excluded.revision, state = excluded.state, value = excluded.value,
                        changed_at = excluded.changed_at, is_stale = false, device = excluded.device,
                        preference = excluded.preference
            ), past AS (
                INSERT INTO answer_history
                    (person_id, session_id, question, revision, state, value, changed_at, client_time, device,
                    preference)
                SELECT person, session, question, revision, state, value, changed_at, client_time, device, preference
                FROM turn
            ), known AS (
                INSERT INTO mutations (person_id, session_id, question, revision, mutation_id, digest, reply)
                SELECT person, session, question, revision, mutation, digest, reply FROM turn
                WHERE mutation IS NOT NULL
            )
            SELECT place FROM turn
            """)
    }
    private static let rememberMutation: Statement = """
        INSERT INTO mutations (person_id, session_id, mutation_id, digest, reply, question, revision)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
    private static let setStale: Statement = """
        UPDATE answers SET is_stale = true WHERE person_id = $1 AND session_id = $2 AND question = ANY ($3)
        """
    private static let putSubject: Statement = """
        INSERT INTO subjects (person_id, session_id, subject, kind, label, added_at, position)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (person_id, session_id, subject) DO UPDATE
            SET label = coalesce(excluded.label, subjects.label), removed_at = NULL
        """
    private static let removeSubject: Statement = """
        UPDATE subjects SET removed_at = $4
        WHERE person_id = $1 AND session_id = $2 AND subject = $3 AND removed_at IS NULL
        """
    private static let allSubjects: Statement = """
        SELECT subject, kind, position, label FROM subjects WHERE person_id = $1 AND session_id = $2
        """
    private static let reopenSession: Statement = """
        UPDATE sessions SET status = 'in_progress', completed_at = NULL
        WHERE person_id = $1 AND session_id = $2 AND status IN ('completed', 'amended')
        """
    private static let stopSession: Statement = """
        UPDATE sessions SET status = 'stopped' WHERE person_id = $1 AND session_id = $2 AND status = 'in_progress'
        """
    private static let setStatus: Statement = """
        UPDATE sessions SET status = $3, completed_at = coalesce(completed_at, $4)
        WHERE person_id = $1 AND session_id = $2
        """
    private static let takeSnapshot: Statement = """
        INSERT INTO snapshots (person_id, session_id, number, status, taken_at, version, content_hash, answers, scores)
        SELECT $1, $2, 1 + coalesce(max(number), 0), $3, $4, $5, $6, $7, $8 FROM snapshots
        WHERE person_id = $1 AND session_id = $2
        """
}
