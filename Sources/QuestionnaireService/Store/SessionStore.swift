import BusProtocol
import Database
import EventLoop

/// A person's sessions and the answers in them.
@Loop struct SessionStore {
    let database: Database

    /// The person's session, in one round trip; opened where there is none.
    ///
    /// - Returns: `nil` where nothing is published that one could be opened for.
    func current(of person: Identifier, for questionnaire: String) async throws -> StoredSession? {
        let values: [SQLValue] = [.uuid(person), .text(questionnaire), .uuid(nil)]
        if let session = try StoredSession(try await database.read(Self.load, values)) { return session }
        try await database.transaction { open(for: person, questionnaire, in: $0) }
        return try StoredSession(try await database.read(Self.load, values))
    }

    /// The person's session, nobody else's until the transaction ends; opened where none was asked for by id.
    ///
    /// - Parameter id: `nil` for the current one.
    func locked(
        _ id: Identifier?, of person: Identifier, for questionnaire: String, in transaction: Transaction
    ) async throws -> StoredSession? {
        let values: [SQLValue] = [.uuid(person), .text(questionnaire), .uuid(id)]
        // The answers are read by a statement of their own: it sees what was committed while the lock was waited for.
        transaction.send(Self.lock, values)
        if let session = try StoredSession(try await transaction.query(Self.load, values)) { return session }
        guard id == nil else { return nil }
        open(for: person, questionnaire, in: transaction)
        transaction.send(Self.lock, values)
        return try StoredSession(try await transaction.query(Self.load, values))
    }

    /// Opens a session where there is none, but for who was deleted.
    private func open(for person: Identifier, _ questionnaire: String, in transaction: Transaction) {
        Erasure.wait(for: person, in: transaction)
        transaction.send(Self.open, [.uuid(person), .text(questionnaire), .uuid(.ordered())])
    }

    /// Removes everything about a person; what stands in the sessions goes with them.
    func erase(_ person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM sessions WHERE person_id = $1", [.uuid(person)])
    }

    /// What is remembered of the mutation ids given.
    func mutations(
        _ ids: [Identifier], of person: Identifier, session: Identifier, in transaction: Transaction
    ) async throws -> [RecordedMutation] {
        guard !ids.isEmpty else { return [] }
        let values: [SQLValue] = [.uuid(person), .uuid(session), .textArray(ids.map(\.description))]
        return try await transaction.query(Self.findMutations, values).map { row in
            RecordedMutation(
                id: try row.uuid("mutation_id"), digest: try row.bytes("digest"), question: try row.text("question"),
                revision: try row.integer("revision"))
        }
    }

    // The newest session counts: a stopped one does not, a completed one does.
    private static let load: Statement = """
        SELECT s.session_id, s.status, s.content_hash, clock_timestamp() AS now,
            a.question, a.state, a.value, a.revision, a.changed_at
        FROM (
            SELECT session_id, status, content_hash FROM sessions
            WHERE person_id = $1 AND questionnaire = $2 AND status <> 'stopped'
                AND ($3::uuid IS NULL OR session_id = $3)
            ORDER BY opened_at DESC, session_id DESC LIMIT 1
        ) s LEFT JOIN answers a ON a.person_id = $1 AND a.session_id = s.session_id
        """
    private static let lock: Statement = """
        SELECT session_id FROM sessions
        WHERE person_id = $1 AND questionnaire = $2 AND status <> 'stopped' AND ($3::uuid IS NULL OR session_id = $3)
        ORDER BY session_id FOR UPDATE
        """
    private static let open: Statement = """
        INSERT INTO sessions (person_id, session_id, questionnaire, version, content_hash)
        SELECT $1, $3, d.questionnaire, d.version, d.content_hash
        FROM definitions d
        WHERE d.questionnaire = $2 AND NOT is_erased($1) AND NOT EXISTS (
            SELECT 1 FROM sessions s WHERE s.person_id = $1 AND s.questionnaire = $2 AND s.status <> 'stopped')
        ORDER BY d.version DESC LIMIT 1
        ON CONFLICT (person_id, questionnaire) WHERE status = 'in_progress' DO NOTHING
        """
    private static let findMutations: Statement = """
        SELECT mutation_id, digest, question, revision FROM mutations
        WHERE person_id = $1 AND session_id = $2 AND mutation_id = ANY ($3::text[]::uuid[])
        """
}
