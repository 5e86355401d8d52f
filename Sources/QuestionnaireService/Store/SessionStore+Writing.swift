import BusProtocol
import Database
import JSONText

extension SessionStore {
    /// Writes what was planned, without waiting: it is in the database when the transaction is.
    func write(_ plan: ResponsePlan, of person: Identifier, session: Identifier, in transaction: Transaction) {
        let row: [SQLValue] = [.uuid(person), .uuid(session)]
        for write in plan.writes {
            if write.changesAnswer {
                let answer = write.answer
                let columns: [SQLValue] = [
                    .text(write.question), .integer(answer.revision), .text(answer.state.rawValue),
                    .json(answer.value.map { CanonicalJSON.bytes(of: $0) }), .timestamp(answer.changedAt),
                ]
                transaction.send(Self.upsertAnswer, row + columns)
                transaction.send(Self.appendHistory, row + columns + [.timestamp(write.clientTime)])
            }
            if let mutation = write.mutation {
                transaction.send(
                    Self.rememberMutation,
                    row + [
                        .uuid(mutation.id), .bytes(mutation.digest), .text(mutation.question),
                        .integer(mutation.revision),
                    ])
            }
        }
    }

    /// Closes the session, or notes that a closed one was changed, and takes the snapshot that the answers came to.
    func conclude(
        _ sheet: AnswerSheet, as status: SessionStatus, of person: Identifier, session: StoredSession,
        in transaction: Transaction
    ) {
        let row: [SQLValue] = [.uuid(person), .uuid(session.id), .text(status.rawValue), .timestamp(session.now)]
        let answers = Dictionary(
            sheet.visibleAnswers.filter { !sheet.stale.contains($0.question.key) }.map {
                ($0.question.key, $0.answer.json)
            }, uniquingKeysWith: { first, _ in first })
        transaction.send(Self.setStatus, row)
        transaction.send(
            Self.takeSnapshot,
            row + [
                .integer(sheet.definition.version), .bytes(sheet.definition.hash),
                .json(CanonicalJSON.bytes(of: .object(answers))),
                .json(CanonicalJSON.bytes(of: Scoring(sheet: sheet).result)),
            ])
    }

    private static let upsertAnswer: Statement = """
        INSERT INTO answers (person_id, session_id, question, revision, state, value, changed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (person_id, session_id, question) DO UPDATE
            SET revision = excluded.revision, state = excluded.state, value = excluded.value,
                changed_at = excluded.changed_at
        """
    private static let appendHistory: Statement = """
        INSERT INTO answer_history (person_id, session_id, question, revision, state, value, changed_at, client_time)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """
    private static let rememberMutation: Statement = """
        INSERT INTO mutations (person_id, session_id, mutation_id, digest, question, revision)
        VALUES ($1, $2, $3, $4, $5, $6)
        """
    private static let setStatus: Statement = """
        UPDATE sessions SET status = $3, completed_at = coalesce(completed_at, $4)
        WHERE person_id = $1 AND session_id = $2
        """
    private static let takeSnapshot: Statement = """
        INSERT INTO snapshots (person_id, session_id, number, status, taken_at, version, content_hash, answers, scores)
        SELECT $1, $2, 1 + count(*), $3, $4, $5, $6, $7, $8 FROM snapshots WHERE person_id = $1 AND session_id = $2
        """
}

extension Answer {
    /// As a snapshot keeps it.
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["state": .string(state.rawValue), "revision": .integer(revision)]
        members["value"] = value
        return .object(members)
    }
}
