import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// Reads and writes a person's sessions and their answers.
@Loop struct QuestionnaireSessionStore {
    let database: Database
    let sealer: AnswerSealer
    let sensitive: SensitiveQuestions
    /// Batches answers with those of other people.
    let saves: BatchWriter

    init(database: Database, sealer: AnswerSealer, sensitive: SensitiveQuestions = SensitiveQuestions()) {
        (self.database, self.sealer, self.sensitive) = (database, sealer, sensitive)
        saves = BatchWriter(database, Self.saveAnswers)
    }

    /// Reads a session without a lock.
    ///
    /// - Parameters:
    ///   - id: `nil` for the current session.
    ///   - mutations: the ids of the stored mutations to load.
    ///   - known: the session as read before. If its revision is still current, its answers are not sent again.
    func find(
        _ id: Identifier?, of person: Identifier, for questionnaire: String, mutations: [Identifier] = [],
        knowing known: StoredQuestionnaireSession? = nil
    ) async throws -> StoredQuestionnaireSession? {
        let values = Self.values(id, person, questionnaire, mutations, knowing: known)
        let rows = try await database.read(Self.load(mutations), values)
        return try StoredQuestionnaireSession(rows, of: person, sealer, knowing: known)
    }

    /// The person's session, locked until the transaction ends.
    ///
    /// - Parameters:
    ///   - id: `nil` for the current session.
    ///   - mutations: the ids of the stored mutations to load.
    func locked(
        _ id: Identifier?, of person: Identifier, for questionnaire: String, mutations: [Identifier] = [],
        in transaction: Transaction
    ) async throws -> StoredQuestionnaireSession? {
        // A separate statement reads the answers. It sees everything that was committed during the wait for the lock.
        let (taken, rows) = try await transaction.query(
            Self.lock, [.uuid(person), .text(questionnaire), .uuid(id)],
            then: Self.load(mutations), Self.values(id, person, questionnaire, mutations))
        if let row = taken.first { sensitive.learn(try row.textArray("sensitive"), of: questionnaire) }
        guard let session = try StoredQuestionnaireSession(rows, of: person, sealer) else { return nil }
        if try taken.contains(where: { try $0.uuid("session_id") == session.id }) { return session }
        // Another session became the current one during the wait. It is not locked yet.
        return try await locked(session.id, of: person, for: questionnaire, mutations: mutations, in: transaction)
    }

    /// The open session; `nil` if there is none.
    func findOpen(
        of person: Identifier, for questionnaire: String, in transaction: Transaction
    ) async throws -> StoredQuestionnaireSession? {
        guard let row = try await transaction.query(Self.findOpen, [.uuid(person), .text(questionnaire)]).first else {
            return nil
        }
        let id = try row.uuid("session_id")
        let rows = try await transaction.query(Self.load([]), Self.values(id, person, questionnaire, []))
        return try StoredQuestionnaireSession(rows, of: person, sealer)
    }

    /// The definition with which a session would be opened now.
    ///
    /// - Parameter statuses: no session is opened if the person has one in any of these.
    /// - Returns: `nil` if the person has a session in one of `statuses`, nothing is published, or the person was
    ///   deleted. `hasRoom` says whether they have fewer than ``OpenSession/most`` sessions that are not stopped.
    func toOpen(
        for person: Identifier, _ questionnaire: String, unless statuses: [SessionStatus], in transaction: Transaction
    ) async throws -> (hash: [UInt8], hasRoom: Bool)? {
        Erasure.wait(for: person, in: transaction)
        let values: [SQLValue] = [
            .uuid(person), .text(questionnaire), .textArray(statuses.map(\.rawValue)), .bytes(nil),
        ]
        return try await transaction.query(Self.findToOpen, values).first.map {
            (try $0.bytes("content_hash"), try $0.bool("has_room"))
        }
    }

    /// Opens a session with the definition that ``toOpen(for:_:unless:in:)`` found. It deletes stopped sessions beyond
    /// ``OpenSession/most`` with all their contents. Those that were never completed go first, and then the oldest.
    ///
    /// - Returns: the version and the time; `nil` if another request opened a session in the meantime.
    func open(
        _ hash: [UInt8], for person: Identifier, _ questionnaire: String, unless statuses: [SessionStatus],
        as id: Identifier, knowing facts: [String: JSONValue], in transaction: Transaction
    ) async throws -> (version: Int64, openedAt: Timestamp)? {
        let values: [SQLValue] = [
            .uuid(person), .text(questionnaire), .textArray(statuses.map(\.rawValue)), .bytes(hash), .uuid(id),
            .json(CanonicalJSON.bytes(of: .object(facts))),
        ]
        return try await transaction.query(Self.open, values).first.map {
            (try $0.integer("version"), try $0.timestamp("opened_at"))
        }
    }

    /// All sessions of the person for a questionnaire, the newest first.
    func list(of person: Identifier, for questionnaire: String) async throws -> [SessionSummary] {
        try await database.read(Self.listAll, [.uuid(person), .text(questionnaire)]).map { row in
            SessionSummary(
                id: try row.uuid("session_id"), status: SessionStatus(rawValue: try row.text("status")),
                version: try row.integer("version"), hash: Hex.encode(try row.bytes("content_hash")),
                openedAt: try row.timestamp("opened_at"), completedAt: try row.optionalTimestamp("completed_at"))
        }
    }

    /// The newest snapshot of a session; `nil` before it is completed.
    func result(of session: Identifier, of person: Identifier) async throws -> SessionResult? {
        let row = try await database.read(Self.newest, [.uuid(person), .uuid(session)]).first
        return try row.map { try SessionResult($0, of: person, sealer) }
    }

    /// Like ``result(of:of:)``, but `nil` for a stopped session.
    func resultThatCounts(of session: Identifier, of person: Identifier) async throws -> SessionResult? {
        let row = try await database.read(Self.newestThatCounts, [.uuid(person), .uuid(session)]).first
        return try row.map { try SessionResult($0, of: person, sealer) }
    }

    /// Like ``result(of:of:)``, but includes what the transaction has written.
    func result(
        of session: Identifier, of person: Identifier, in transaction: Transaction
    ) async throws -> SessionResult? {
        let row = try await transaction.query(Self.newest, [.uuid(person), .uuid(session)]).first
        return try row.map { try SessionResult($0, of: person, sealer) }
    }

    /// The scores and answers in the person's newest snapshot of a questionnaire, with the hash of its definition.
    /// Stopped sessions do not count.
    func newestScores(
        of person: Identifier, for questionnaire: String
    ) async throws -> (scores: JSONValue, answers: JSONValue, hash: [UInt8])? {
        guard let row = try await database.read(Self.scores, [.uuid(person), .text(questionnaire)]).first else {
            return nil
        }
        return (
            try JSONValue.parse(try row.json("scores")),
            try sealer.opened(try JSONValue.parse(try row.json("answers")), of: person), try row.bytes("content_hash")
        )
    }

    /// Deletes all sessions of a person, with everything in them.
    func erase(_ person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM sessions WHERE person_id = $1", [.uuid(person)])
    }

    /// Deletes revisions of answers after 365 days, and mutations after 30 days.
    ///
    /// - Returns: whether there may be more.
    func purge() async throws -> Bool {
        let page: [SQLValue] = [.integer(Self.page)]
        let revisions = try await database.write("SELECT purge_history($1) AS count", page).first?.integer("count") ?? 0
        let mutations = try await database.write(Self.purgeMutations, page)
        return max(revisions, Int64(mutations.count)) == Self.page
    }

    private static let most = OpenSession.most
    private static let page: Int64 = 1000
    nonisolated static let purgeMutations: Statement = """
        WITH old AS MATERIALIZED (
            SELECT person_id, session_id, mutation_id FROM mutations WHERE at < now() - interval '30 days'
            LIMIT $1 FOR UPDATE SKIP LOCKED)
        DELETE FROM mutations m USING old WHERE m.person_id = old.person_id AND m.session_id = old.session_id
            AND m.mutation_id = old.mutation_id
        RETURNING m.mutation_id
        """

    private static func values(
        _ id: Identifier?, _ person: Identifier, _ questionnaire: String, _ mutations: [Identifier],
        knowing known: StoredQuestionnaireSession? = nil
    ) -> [SQLValue] {
        let session: [SQLValue] = [
            .uuid(person), .text(questionnaire), .uuid(id), .uuid(known?.id), .integer(known?.revision),
        ]
        guard let first = mutations.first else { return session }
        return session + [mutations.count > 1 ? .uuidArray(mutations) : .uuid(first)]
    }

    /// Nearly every write has one mutation, so one has its own statement. With a list, PostgreSQL reads all mutations
    /// of the session once it has analyzed the table.
    private static func load(_ mutations: [Identifier]) -> Statement {
        mutations.isEmpty ? load : mutations.count > 1 ? loadWithMany : loadWithOne
    }

    /// A stopped session is found only by its id.
    private static let isMeant = "(session_id = $3 OR $3::uuid IS NULL AND status <> 'stopped')"

    // The current session is the open one, even if an older session was opened again. Without an open one, it is the
    // newest that is not stopped. The session has its own row beside those of its answers. Columns that a row lacks are
    // neither sent nor read. Columns that most rows have come first, since the first columns are found fastest.
    static let load = loading("NULL::jsonb")
    static let loadWithOne = loading(remembered("= $6"))
    private static let loadWithMany = loading(remembered("= ANY ($6)"))

    private static func remembered(_ sought: String) -> String {
        """
        (SELECT jsonb_agg(jsonb_build_object('id', mutation_id, 'digest', encode(digest, 'hex'),
            'key', question, 'revision', revision, 'reply', reply)) FROM mutations m
        WHERE m.person_id = $1 AND m.session_id = t.session_id AND mutation_id \(sought))
        """
    }

    /// - Parameter mutations: SQL for the stored mutations. If no ids are given, it is a constant, so that nothing is
    ///   planned for it.
    private static func loading(_ mutations: String) -> Statement {
        Statement(
            """
            WITH s AS MATERIALIZED (
                SELECT session_id, status, version, content_hash, opened_at, completed_at, revision, facts,
                    (SELECT retired_at FROM retirements r
                    WHERE r.questionnaire = $2 AND r.version = t.version AND EXISTS (
                        SELECT 1 FROM definitions d WHERE d.questionnaire = $2 AND d.version > t.version AND NOT EXISTS (
                            SELECT 1 FROM retirements n WHERE n.questionnaire = $2 AND n.version = d.version)
                    )) AS retired_at,
                    (SELECT count(*) FROM snapshots n WHERE n.person_id = $1 AND n.session_id = t.session_id) AS snapshots,
                    (SELECT jsonb_agg(jsonb_build_object('id', subject, 'kind', kind, 'position', position,
                        'label', label)
                        ORDER BY position, subject) FROM subjects u
                    WHERE u.person_id = $1 AND u.session_id = t.session_id AND removed_at IS NULL) AS subjects,
                    \(mutations) AS mutations
                FROM sessions t
                WHERE person_id = $1 AND questionnaire = $2 AND \(isMeant)
                ORDER BY status = 'in_progress' DESC, opened_at DESC, session_id DESC LIMIT 1
            )
            SELECT NULL AS question, NULL AS answer_state, NULL::jsonb AS value, NULL::bigint AS answer_revision,
                NULL::timestamptz AS changed_at, NULL::boolean AS is_stale, NULL AS device, NULL::jsonb AS preference,
                session_id, status, version, content_hash, opened_at, completed_at, revision, facts, retired_at, snapshots,
                subjects, mutations, clock_timestamp() AS now
            FROM s
            UNION ALL
            SELECT a.question, a.state, a.value, a.revision, a.changed_at, a.is_stale, a.device, a.preference,
                NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM s JOIN answers a ON a.person_id = $1 AND a.session_id = s.session_id
            WHERE (s.session_id, s.revision) IS DISTINCT FROM ($4::uuid, $5::bigint)
            """)
    }
    // The statement raises the revision, so a request that read the session without the lock notices the change.
    // Without an id, it locks every session that could be the current one. The next statement decides which one is.
    // It reads the marks itself, so that they count until the transaction ends.
    private static let lock = Statement(
        """
        WITH turn AS MATERIALIZED (
            SELECT session_id FROM sessions
            WHERE person_id = $1 AND questionnaire = $2 AND \(isMeant)
            ORDER BY session_id FOR UPDATE
        )
        UPDATE sessions s SET revision = revision + 1 FROM turn
        WHERE s.person_id = $1 AND s.session_id = turn.session_id
        RETURNING s.session_id, ARRAY(SELECT question FROM sensitive_questions WHERE questionnaire = $2) AS sensitive
        """)
    private static let toOpen = """
        FROM definitions d
        WHERE d.questionnaire = $2 AND NOT is_erased($1) AND NOT EXISTS (
            SELECT 1 FROM retirements r WHERE (r.questionnaire, r.version) = (d.questionnaire, d.version)
        ) AND NOT EXISTS (
            SELECT 1 FROM sessions s WHERE s.person_id = $1 AND s.questionnaire = $2 AND s.status = ANY ($3)
        ) AND ($4::bytea IS NULL OR d.content_hash = $4)
        ORDER BY d.version DESC LIMIT 1
        """
    private static let findToOpen = Statement(
        """
        SELECT d.content_hash, \(most) > (
            SELECT count(*) FROM sessions s WHERE s.person_id = $1 AND s.questionnaire = $2 AND s.status <> 'stopped'
        ) AS has_room \(toOpen)
        """)
    private static let open = Statement(
        """
        WITH opened AS (
            INSERT INTO sessions (person_id, session_id, questionnaire, version, content_hash, facts)
            SELECT $1, $5, d.questionnaire, d.version, d.content_hash, $6::jsonb \(toOpen)
            ON CONFLICT (person_id, questionnaire) WHERE status = 'in_progress' DO NOTHING
            RETURNING version, opened_at
        ), gone AS (
            DELETE FROM sessions g USING (
                SELECT s.session_id FROM sessions s WHERE s.person_id = $1 AND s.questionnaire = $2
                ORDER BY s.status = 'stopped', NOT EXISTS (
                    SELECT 1 FROM snapshots n WHERE n.person_id = $1 AND n.session_id = s.session_id
                ), s.opened_at DESC, s.session_id DESC OFFSET \(most - 1)
            ) AS old
            WHERE g.person_id = $1 AND g.session_id = old.session_id AND g.status = 'stopped'
                AND EXISTS (SELECT 1 FROM opened)
        )
        SELECT version, opened_at FROM opened
        """)
    private static let findOpen: Statement = """
        SELECT session_id FROM sessions WHERE person_id = $1 AND questionnaire = $2 AND status = 'in_progress'
        """
    private static let listAll: Statement = """
        SELECT session_id, status, version, content_hash, opened_at, completed_at FROM sessions
        WHERE person_id = $1 AND questionnaire = $2 ORDER BY opened_at DESC, session_id DESC LIMIT 1000
        """
    private static let scores: Statement = """
        SELECT n.scores, n.answers, n.content_hash FROM sessions s JOIN snapshots n USING (person_id, session_id)
        WHERE s.person_id = $1 AND s.questionnaire = $2 AND s.status <> 'stopped'
        ORDER BY n.taken_at DESC, n.number DESC LIMIT 1
        """
    private static let newest: Statement = """
        SELECT number, version, content_hash, answers, scores, taken_at FROM snapshots
        WHERE person_id = $1 AND session_id = $2 ORDER BY number DESC LIMIT 1
        """
    private static let newestThatCounts: Statement = """
        SELECT n.number, n.version, n.content_hash, n.answers, n.scores, n.taken_at
        FROM sessions s JOIN snapshots n USING (person_id, session_id)
        WHERE s.person_id = $1 AND s.session_id = $2 AND s.status <> 'stopped' ORDER BY n.number DESC LIMIT 1
        """
}

extension SessionResult {
    fileprivate init(_ row: Row, of person: Identifier, _ sealer: AnswerSealer) throws {
        self.init(
            number: try row.integer("number"), version: try row.integer("version"),
            hash: Hex.encode(try row.bytes("content_hash")), takenAt: try row.timestamp("taken_at"),
            answers: try sealer.opened(try JSONValue.parse(try row.json("answers")), of: person),
            scores: try JSONValue.parse(try row.json("scores")))
    }
}
