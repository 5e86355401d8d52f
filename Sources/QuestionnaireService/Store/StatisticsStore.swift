import BusProtocol
import Database
import EventLoop
import JSONText

/// Reads the newest sessions of a version for its statistics.
@Loop struct StatisticsStore {
    let database: Database
    let sealer: AnswerSealer

    private static let most: Int64 = 5_000

    struct Sample: Sendable {
        let person: Identifier
        let status: SessionStatus
        let answers: [UInt8]?
        let subjects: [UInt8]?
        let facts: [UInt8]
    }

    /// The newest sessions, the number of all sessions, and the median seconds for each question. It is slow, so it
    /// runs in a transaction on its own connection.
    func samples(
        of version: Int64, _ questionnaire: String, in transaction: Transaction
    ) async throws -> (samples: [Sample], all: Int64, medians: [String: Double]) {
        let values: [SQLValue] = [.text(questionnaire), .integer(version)]
        let all = try await transaction.query(Self.count, values).first?.integer("count") ?? 0
        let samples = try await transaction.query(Self.newest, values + [.integer(Self.most)]).map { row in
            Sample(
                person: try row.uuid("person_id"), status: SessionStatus(rawValue: try row.text("status")),
                answers: try row.optionalJSON("answers"),
                subjects: try row.optionalJSON("subjects"), facts: try row.json("facts"))
        }
        var medians: [String: Double] = [:]
        for row in try await transaction.query(Self.times, values + [.integer(Self.most)]) {
            medians[try row.text("question")] = try row.optionalDouble("median")
        }
        return (samples, all, medians)
    }

    private static let count: Statement = """
        SELECT count(*) AS count FROM sessions WHERE questionnaire = $1 AND version = $2
        """
    private static let newest: Statement = """
        SELECT s.person_id, s.status, s.facts,
            (SELECT jsonb_object_agg(question, jsonb_build_array(state, value, is_stale)) FROM answers a
            WHERE (a.person_id, a.session_id) = (s.person_id, s.session_id)) AS answers,
            (SELECT jsonb_agg(jsonb_build_array(subject, kind, position) ORDER BY position, subject) FROM subjects u
            WHERE (u.person_id, u.session_id) = (s.person_id, s.session_id) AND removed_at IS NULL) AS subjects
        FROM sessions s WHERE s.questionnaire = $1 AND s.version = $2
        ORDER BY s.opened_at DESC, s.session_id DESC LIMIT $3
        """
    // Uses one time for each person and question: that of the first revision of the first answer. Changing an answer,
    // answering about several subjects and beginning again do not count.
    private static let times: Statement = """
        WITH newest AS MATERIALIZED (
            SELECT person_id, session_id, opened_at FROM sessions WHERE questionnaire = $1 AND version = $2
            ORDER BY opened_at DESC, session_id DESC LIMIT $3
        ), first AS (
            SELECT DISTINCT ON (person_id, split_part(question, '/', 1)) split_part(question, '/', 1) AS question, took
            FROM answers JOIN newest USING (person_id, session_id)
            WHERE took BETWEEN 0 AND 3600
            ORDER BY person_id, split_part(question, '/', 1), opened_at, changed_at, answers.question
        )
        SELECT question, percentile_cont(0.5) WITHIN GROUP (ORDER BY took::float8) AS median FROM first GROUP BY 1
        """
}

extension AnswerSheet {
    /// - Parameter now: the time of all answers. Ages are calculated on this day of the person's time zone.
    init(_ sample: StatisticsStore.Sample, _ sealer: AnswerSealer, of definition: Definition, now: Timestamp) throws {
        let answers = try sample.answers.map { try JSONValue.parse($0) }?.objectValue ?? [:]
        let subjects = try sample.subjects.map { try JSONValue.parse($0) }?.arrayValue ?? []
        let facts = try JSONValue.parse(sample.facts).objectValue ?? [:]
        self.init(
            definition: definition,
            answers: try answers.compactMapValues { entry in
                guard let parts = entry.arrayValue, parts.count == 3, let state = parts[0].stringValue else {
                    return nil
                }
                return Answer(
                    state: AnswerState(rawValue: state),
                    value: parts[1] == .null ? nil : try sealer.opened(parts[1], of: sample.person),
                    revision: 1, changedAt: now, isStale: parts[2].boolValue ?? false)
            },
            subjects: subjects.compactMap { entry in
                guard let parts = entry.arrayValue, parts.count == 3,
                    let id = parts[0].stringValue.flatMap({ Identifier($0) }), let kind = parts[1].stringValue,
                    let position = parts[2].integerValue
                else { return nil }
                return Subject(id: id, kind: kind, position: position, label: nil)
            }, facts: facts, today: QuestionnaireSessionFacts.today(at: now, facts))
    }
}
