import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// Reads and writes drafts and published versions.
@Loop struct DraftStore {
    let database: Database

    struct StoredDraft: Sendable {
        var number: Int64
        var revision: Int64
        var copyOf: Int64?
        var publishedAs: Int64?
        var updatedAt: Timestamp
        var content: JSONValue

        fileprivate init(_ row: Row) throws {
            number = try row.integer("number")
            revision = try row.integer("revision")
            copyOf = try row.optionalInteger("copy_of")
            publishedAs = try row.optionalInteger("published_as")
            updatedAt = try row.timestamp("updated_at")
            content = try Self.read(try row.text("content"))
        }

        fileprivate static func read(_ content: String) throws -> JSONValue {
            try JSONValue.parse(Array(content.utf8), limits: DefinitionParser.limits)
        }
    }

    /// The published versions of a questionnaire, the oldest first.
    func versions(of questionnaire: String, in transaction: Transaction) async throws -> [JSONValue] {
        try await transaction.query(Self.contents, [.text(questionnaire)]).map {
            try StoredDraft.read(try $0.text("content"))
        }
    }

    func version(_ number: Int64, of questionnaire: String) async throws -> JSONValue? {
        try await database.read(Self.content, [.text(questionnaire), .integer(number)]).first.map {
            try StoredDraft.read(try $0.text("content"))
        }
    }

    func find(_ number: Int64, of questionnaire: String) async throws -> StoredDraft? {
        try await database.read(Self.findDraft, [.text(questionnaire), .integer(number)]).first.map(StoredDraft.init)
    }

    /// The draft, locked until the transaction ends.
    func locked(_ number: Int64, of questionnaire: String, in transaction: Transaction) async throws -> StoredDraft? {
        try await transaction.query(Self.lockDraft, [.text(questionnaire), .integer(number)]).first.map(
            StoredDraft.init)
    }

    func create(
        _ content: JSONValue, copyOf: Int64?, of questionnaire: String, in transaction: Transaction
    ) async throws -> StoredDraft {
        // Concurrent calls wait for each other, so that each draft gets its own number.
        transaction.send(Self.turn, [.text(questionnaire)])
        let rows = try await transaction.query(
            Self.createDraft, [.text(questionnaire), .text(Self.text(content)), .integer(copyOf)])
        guard let row = rows.first else { throw DatabaseError.aborted }
        return try StoredDraft(row)
    }

    func replace(
        _ number: Int64, of questionnaire: String, by content: JSONValue, in transaction: Transaction
    ) async throws -> StoredDraft {
        let rows = try await transaction.query(
            Self.replaceDraft, [.text(questionnaire), .integer(number), .text(Self.text(content))])
        guard let row = rows.first else { throw DatabaseError.aborted }
        return try StoredDraft(row)
    }

    /// Whether a draft with this number was deleted.
    func wasDeleted(_ number: Int64, of questionnaire: String, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(Self.findDeleted, [.text(questionnaire), .integer(number)]).isEmpty
    }

    /// Deletes the content of a draft. The number is kept, so that it is not used again.
    func delete(_ number: Int64, of questionnaire: String, in transaction: Transaction) {
        transaction.send(Self.deleteDraft, [.text(questionnaire), .integer(number)])
    }

    /// Publishes the draft as the next version.
    func publish(_ draft: Int64, as definition: Definition, in transaction: Transaction) {
        DefinitionStore.insert(definition, in: transaction)
        transaction.send(Self.markPublished, [.text(definition.key), .integer(draft), .integer(definition.version)])
    }

    /// Retires a version. A repeated call changes nothing.
    func retire(_ version: Int64, of questionnaire: String, in transaction: Transaction) {
        transaction.send(Self.retireVersion, [.text(questionnaire), .integer(version)])
    }

    /// The versions of a questionnaire, the newest first.
    func summaries(of questionnaire: String, in transaction: Transaction) async throws -> [VersionSummary] {
        let rows = try await transaction.query(Self.allVersions, [.text(questionnaire)])
        let current = try rows.first { try $0.optionalTimestamp("retired_at") == nil }?.integer("version")
        return try rows.map { row in
            let version = try row.integer("version")
            return VersionSummary(
                version: version, hash: Hex.encode(try row.bytes("content_hash")), current: version == current,
                publishedAt: try row.timestamp("published_at"), retiredAt: try row.optionalTimestamp("retired_at"),
                openSessions: try row.integer("open"), completedSessions: try row.integer("completed"))
        }
    }

    /// The drafts of a questionnaire, the newest first.
    func drafts(of questionnaire: String, in transaction: Transaction) async throws -> [DraftSummary] {
        try await transaction.query(Self.allDrafts, [.text(questionnaire)]).map { row in
            DraftSummary(
                number: try row.integer("number"), revision: try row.integer("revision"),
                from: try row.optionalInteger("copy_of"), publishedAs: try row.optionalInteger("published_as"),
                updatedAt: try row.timestamp("updated_at"))
        }
    }

    /// The number of open sessions of a questionnaire, and the number of their answers to any of these questions.
    func touched(
        _ questions: [String], of questionnaire: String, in transaction: Transaction
    ) async throws -> (sessions: Int64, answers: Int64) {
        let row = try await transaction.query(Self.countTouched, [.text(questionnaire), .textArray(questions)]).first
        return (try row?.integer("sessions") ?? 0, try row?.integer("answers") ?? 0)
    }

    private static func text(_ content: JSONValue) -> String {
        String(decoding: CanonicalJSON.bytes(of: content), as: UTF8.self)
    }

    private static let columns = "number, revision, copy_of, published_as, updated_at, content"
    private static let contents: Statement = """
        SELECT content FROM definitions WHERE questionnaire = $1 ORDER BY version
        """
    private static let content: Statement = """
        SELECT content FROM definitions WHERE questionnaire = $1 AND version = $2
        """
    private static let findDraft = Statement(
        "SELECT \(columns) FROM drafts WHERE questionnaire = $1 AND number = $2 AND deleted_at IS NULL")
    private static let lockDraft = Statement(
        "SELECT \(columns) FROM drafts WHERE questionnaire = $1 AND number = $2 AND deleted_at IS NULL FOR UPDATE")
    private static let findDeleted: Statement = """
        SELECT 1 FROM drafts WHERE questionnaire = $1 AND number = $2 AND deleted_at IS NOT NULL
        """
    private static let deleteDraft: Statement = """
        UPDATE drafts SET content = '{}', revision = revision + 1, updated_at = now(), deleted_at = now()
        WHERE questionnaire = $1 AND number = $2
        """
    private static let turn = Statement("SELECT \(AdvisoryLock.draft.wait(for: "$1"))")
    private static let createDraft = Statement(
        """
        INSERT INTO drafts (questionnaire, number, content, copy_of)
        SELECT $1, 1 + coalesce(max(number), 0), $2, $3 FROM drafts WHERE questionnaire = $1
        RETURNING \(columns)
        """)
    private static let replaceDraft = Statement(
        """
        UPDATE drafts SET content = $3, updated_at = CASE WHEN content = $3 THEN updated_at ELSE now() END,
            revision = revision + CASE WHEN content = $3 THEN 0 ELSE 1 END
        WHERE questionnaire = $1 AND number = $2 RETURNING \(columns)
        """)
    private static let markPublished: Statement = """
        UPDATE drafts SET published_as = $3, revision = revision + 1, updated_at = now()
        WHERE questionnaire = $1 AND number = $2
        """
    private static let retireVersion: Statement = """
        INSERT INTO retirements (questionnaire, version) VALUES ($1, $2) ON CONFLICT DO NOTHING
        """
    private static let allVersions: Statement = """
        SELECT d.version, d.content_hash, d.published_at, r.retired_at,
            count(s.session_id) FILTER (WHERE s.status = 'in_progress') AS open,
            count(s.session_id) FILTER (WHERE s.status IN ('completed', 'amended')) AS completed
        FROM definitions d
            LEFT JOIN retirements r USING (questionnaire, version)
            LEFT JOIN sessions s USING (questionnaire, version)
        WHERE d.questionnaire = $1 GROUP BY d.version, d.content_hash, d.published_at, r.retired_at
        ORDER BY d.version DESC LIMIT 10000
        """
    private static let allDrafts: Statement = """
        SELECT number, revision, copy_of, published_as, updated_at FROM drafts
        WHERE questionnaire = $1 AND deleted_at IS NULL ORDER BY number DESC LIMIT 1000
        """
    private static let countTouched: Statement = """
        SELECT count(DISTINCT s.session_id) AS sessions, count(a.question) AS answers
        FROM sessions s LEFT JOIN answers a ON (a.person_id, a.session_id) = (s.person_id, s.session_id)
            AND split_part(a.question, '/', 1) = ANY ($2) AND a.state <> 'unanswered'
        WHERE s.questionnaire = $1 AND s.status = 'in_progress'
        """
}
