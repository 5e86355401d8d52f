import BusProtocol
import JSONText
import ServiceRuntime

/// The sections of a person's export that questionnaire provides.
enum QuestionnaireExport {
    static func sections(_ sealer: AnswerSealer) -> [ExportSection] {
        let opened: @Sendable (JSONValue, Identifier) throws -> JSONValue = { try sealer.opened($0, of: $1) }
        return [
            ExportSection("session", of: ["sessions"], session),
            ExportSection("answer", of: ["answers"], answer, opening: opened),
            ExportSection("answer_history", of: ["answer_history"], history, opening: opened),
            ExportSection("snapshot", of: ["snapshots"], snapshot, opening: opened),
            ExportSection("mutation", of: ["mutations"], mutation),
            ExportSection("subject", of: ["subjects"], subject),
            ExportSection("migration", of: ["session_migrations"], migration, opening: opened),
        ]
    }

    private static func time(_ column: String) -> String { ExportSection.time(column) }

    private static let session = """
        SELECT session_id::text AS key, jsonb_build_object(
            'id', session_id, 'questionnaire', questionnaire, 'version', version, 'status', status,
            'facts', jsonb_strip_nulls(facts), 'openedAt', \(time("opened_at")), 'completedAt', \(time("completed_at"))) AS record
        FROM sessions WHERE person_id = $1
        """
    private static let answer = """
        SELECT session_id || ' ' || question AS key, jsonb_build_object(
            'sessionId', session_id, 'question', split_part(question, '/', 1),
            'subject', nullif(split_part(question, '/', 2), ''), 'state', state, 'value', value, 'revision', revision,
            'changedAt', \(time("changed_at")), 'device', device, 'preference', preference) AS record
        FROM answers WHERE person_id = $1
        """
    private static let history = """
        SELECT session_id || ' ' || question || ' ' || lpad(revision::text, 19, '0') AS key, jsonb_build_object(
            'sessionId', session_id, 'question', split_part(question, '/', 1),
            'subject', nullif(split_part(question, '/', 2), ''), 'state', state, 'value', value, 'revision', revision,
            'changedAt', \(time("changed_at")), 'clientTime', \(time("client_time")), 'device', device, 'preference', preference) AS record
        FROM answer_history WHERE person_id = $1
        """
    private static let snapshot = """
        SELECT session_id || ' ' || lpad(number::text, 10, '0') AS key, jsonb_build_object(
            'sessionId', session_id, 'number', number, 'status', status, 'version', version, 'answers', answers,
            'scores', scores, 'takenAt', \(time("taken_at"))) AS record
        FROM snapshots WHERE person_id = $1
        """
    private static let mutation = """
        SELECT session_id || ' ' || mutation_id AS key, jsonb_build_object(
            'sessionId', session_id, 'mutationId', mutation_id, 'question', question, 'revision', revision) AS record
        FROM mutations WHERE person_id = $1
        """
    private static let migration = """
        SELECT session_id || ' ' || lpad(number::text, 10, '0') AS key, jsonb_build_object(
            'sessionId', session_id, 'number', number, 'fromVersion', from_version, 'toVersion', to_version,
            'before', before, 'migratedAt', \(time("migrated_at")), 'undoneAt', \(time("undone_at"))) AS record
        FROM session_migrations WHERE person_id = $1
        """
    private static let subject = """
        SELECT session_id || ' ' || subject AS key, jsonb_build_object(
            'sessionId', session_id, 'subject', subject, 'subjectKind', kind, 'label', label, 'position', position,
            'addedAt', \(time("added_at")), 'removedAt', \(time("removed_at"))) AS record
        FROM subjects WHERE person_id = $1
        """
}
