import BusProtocol
import Database
import EventLoop
import JSONText

/// Stores the migrations of sessions, and reads the versions that a migration passes through.
@Loop struct QuestionnaireSessionMigrationStore {
    let database: Database
    let sealer: AnswerSealer
    let sensitive: SensitiveQuestions

    /// The versions from a given one to the newest that is not retired, in ascending order.
    ///
    /// - Returns: `nil` if there is no version to move to.
    func route(from version: Int64, of questionnaire: String) async throws -> [(hash: [UInt8], content: [UInt8])]? {
        let rows = try await database.read(Self.findWay, [.text(questionnaire), .integer(version)])
        guard rows.count > 1 else { return nil }
        return try rows.map { (try $0.bytes("content_hash"), Array(try $0.text("content").utf8)) }
    }

    /// The contents of all versions from one to another, in ascending order.
    func path(from version: Int64, to newest: Int64, of questionnaire: String) async throws -> [[UInt8]] {
        try await database.read(Self.findPath, [.text(questionnaire), .integer(version), .integer(newest)]).map {
            Array(try $0.text("content").utf8)
        }
    }

    /// Pins a session to another version, and adds facts. Facts that the session has already stay as they are.
    func pin(
        _ session: Identifier, of person: Identifier, to version: Int64, _ hash: [UInt8],
        knowing facts: [String: JSONValue] = [:], in transaction: Transaction
    ) {
        transaction.send(
            Self.setVersion,
            [
                .uuid(person), .uuid(session), .integer(version), .bytes(hash),
                .json(CanonicalJSON.bytes(of: .object(facts))),
            ])
    }

    func note(
        _ record: QuestionnaireSessionMigrationRecord, from session: StoredQuestionnaireSession,
        in definition: Definition,
        of person: Identifier, to version: Int64, in transaction: Transaction
    ) {
        let before = record.json { place, value in
            sealer.sealed(value, of: person, isSensitive: sensitive.contains(place, of: definition))
        }
        transaction.send(
            Self.insert,
            [
                .uuid(person), .uuid(session.id), .integer(session.version), .bytes(session.hash), .integer(version),
                .json(CanonicalJSON.bytes(of: before)), .timestamp(session.now),
            ])
    }

    struct Undoable: Sendable {
        let number: Int64
        let version: Int64
        let hash: [UInt8]
        let record: QuestionnaireSessionMigrationRecord
    }

    /// The last migration of a session; `nil` if there is none, it was undone, or the session was changed after it.
    func undoable(
        _ session: Identifier, of person: Identifier, in transaction: Transaction
    ) async throws -> Undoable? {
        let rows = try await transaction.query(Self.last, [.uuid(person), .uuid(session)])
        guard let row = rows.first,
            let record = QuestionnaireSessionMigrationRecord(
                try sealer.opened(try JSONValue.parse(try row.json("before")), of: person))
        else { return nil }
        return Undoable(
            number: try row.integer("number"), version: try row.integer("from_version"),
            hash: try row.bytes("from_hash"), record: record)
    }

    func close(_ migration: Undoable, _ session: Identifier, of person: Identifier, in transaction: Transaction) {
        transaction.send(Self.markUndone, [.uuid(person), .uuid(session), .integer(migration.number)])
    }

    /// Open sessions of older versions, in the order of persons and sessions.
    func due(
        _ questionnaire: String, before version: Int64, after: QuestionnaireSessionCursor?, limit: Int64
    ) async throws -> [QuestionnaireSessionCursor] {
        let rows = try await database.read(
            Self.findDue,
            [
                .text(questionnaire), .integer(version), .uuid(after?.person ?? .least),
                .uuid(after?.session ?? .least), .integer(limit),
            ])
        return try rows.map {
            QuestionnaireSessionCursor(person: try $0.uuid("person_id"), session: try $0.uuid("session_id"))
        }
    }

    func countDue(
        _ questionnaire: String, before version: Int64, after: QuestionnaireSessionCursor?
    ) async throws -> Int64 {
        // Runs in a transaction and not among people's reads, since it may count all sessions.
        try await database.transaction { transaction in
            try await transaction.query(
                Self.count,
                [
                    .text(questionnaire), .integer(version), .uuid(after?.person ?? .least),
                    .uuid(after?.session ?? .least),
                ]
            ).first?.integer("count") ?? 0
        }
    }

    private static let findWay: Statement = """
        SELECT content_hash, content FROM definitions d
        WHERE questionnaire = $1 AND version >= $2 AND version <= (
            SELECT max(n.version) FROM definitions n WHERE n.questionnaire = $1 AND NOT EXISTS (
                SELECT 1 FROM retirements r WHERE (r.questionnaire, r.version) = (n.questionnaire, n.version)))
        ORDER BY version
        """
    private static let findPath: Statement = """
        SELECT content FROM definitions WHERE questionnaire = $1 AND version BETWEEN $2 AND $3 ORDER BY version
        """
    private static let setVersion: Statement = """
        UPDATE sessions SET version = $3, content_hash = $4, facts = $5::jsonb || facts
        WHERE person_id = $1 AND session_id = $2
        """
    private static let insert: Statement = """
        INSERT INTO session_migrations
            (person_id, session_id, number, from_version, from_hash, to_version, before, migrated_at)
        SELECT $1, $2, 1 + coalesce(max(number), 0), $3, $4, $5, $6, $7 FROM session_migrations
        WHERE person_id = $1 AND session_id = $2
        """
    // The answers that the migration wrote have the time of the migration, so they do not count as later changes.
    private static let last: Statement = """
        SELECT number, from_version, from_hash, before FROM session_migrations m
        WHERE person_id = $1 AND session_id = $2 AND undone_at IS NULL
            AND number = (SELECT max(number) FROM session_migrations n
                WHERE n.person_id = $1 AND n.session_id = $2)
            AND NOT EXISTS (SELECT 1 FROM answers a
                WHERE a.person_id = $1 AND a.session_id = $2 AND a.changed_at > m.migrated_at)
            AND NOT EXISTS (SELECT 1 FROM subjects u
                WHERE u.person_id = $1 AND u.session_id = $2
                    AND greatest(u.added_at, u.removed_at) > m.migrated_at)
            AND NOT EXISTS (SELECT 1 FROM snapshots n
                WHERE n.person_id = $1 AND n.session_id = $2 AND n.taken_at > m.migrated_at)
        """
    private static let markUndone: Statement = """
        UPDATE session_migrations SET undone_at = clock_timestamp()
        WHERE person_id = $1 AND session_id = $2 AND number = $3
        """
    private static let findDue: Statement = """
        SELECT person_id, session_id FROM sessions
        WHERE questionnaire = $1 AND status = 'in_progress' AND version < $2
            AND (person_id, session_id) > ($3, $4)
        ORDER BY person_id, session_id LIMIT $5
        """
    private static let count: Statement = """
        SELECT count(*) AS count FROM sessions
        WHERE questionnaire = $1 AND status = 'in_progress' AND version < $2
            AND (person_id, session_id) > ($3, $4)
        """
}

extension QuestionnaireSessionMigrationRecord {
    /// The former answers by place. A place that had no answer has `null`.
    ///
    /// - Parameter sealed: the stored form of the value at a place.
    fileprivate func json(_ sealed: (_ place: String, _ value: JSONValue) -> JSONValue) -> JSONValue {
        var places: [String: JSONValue] = [:]
        for (place, answer) in before {
            places[place] =
                answer.map { answer in
                    var members: [String: JSONValue] = [
                        "state": .string(answer.state.rawValue), "revision": .integer(answer.revision),
                        "changedAt": .string(answer.changedAt.description), "isStale": .bool(answer.isStale),
                    ]
                    members["value"] = answer.value.map { sealed(place, $0) }
                    members["device"] = answer.device.map { .string($0) }
                    members["preference"] = answer.preference?.json
                    return .object(members)
                } ?? .null
        }
        return .object(places)
    }

    fileprivate init?(_ json: JSONValue) {
        guard let members = json.objectValue else { return nil }
        var before: [String: Answer?] = [:]
        for (key, value) in members {
            guard value != .null else {
                before[key] = .some(nil)
                continue
            }
            guard let state = value["state"]?.stringValue, let revision = value["revision"]?.integerValue,
                let changedAt = value["changedAt"]?.stringValue.flatMap({ Timestamp($0) })
            else { return nil }
            before[key] = Answer(
                state: AnswerState(rawValue: state), value: value["value"], revision: revision, changedAt: changedAt,
                device: value["device"]?.stringValue,
                preference: value["preference"].flatMap { AnswerPreference($0) },
                isStale: value["isStale"]?.boolValue ?? false)
        }
        self.init(before: before)
    }
}
