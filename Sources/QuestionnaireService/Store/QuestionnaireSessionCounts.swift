import Cryptography
import Database
import Documents
import EventLoop

/// Counts the sessions of a questionnaire.
@Loop struct QuestionnaireSessionCounts {
    /// The sessions of each version.
    func byVersion(
        of questionnaire: String, in transaction: Transaction
    ) async throws -> [Int64: (open: Int64, completed: Int64)] {
        let rows = try await transaction.query(Self.countByVersion, [.text(questionnaire)])
        return try Dictionary(
            rows.map { (try $0.integer("version"), (try $0.integer("open"), try $0.integer("completed"))) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The number of open sessions, and the number of their answers to any of these questions.
    func touched(
        _ questions: [String], of questionnaire: String, in transaction: Transaction
    ) async throws -> (sessions: Int64, answers: Int64) {
        let row = try await transaction.query(Self.countTouched, [.text(questionnaire), .textArray(questions)]).first
        return (try row?.integer("sessions") ?? 0, try row?.integer("answers") ?? 0)
    }

    private static let countByVersion: Statement = """
        SELECT version, count(*) FILTER (WHERE status = 'in_progress') AS open,
            count(*) FILTER (WHERE status IN ('completed', 'amended')) AS completed
        FROM sessions WHERE questionnaire = $1 GROUP BY version
        """
    private static let countTouched: Statement = """
        SELECT count(DISTINCT s.session_id) AS sessions, count(a.question) AS answers
        FROM sessions s LEFT JOIN answers a ON (a.person_id, a.session_id) = (s.person_id, s.session_id)
            AND split_part(a.question, '/', 1) = ANY ($2) AND a.state <> 'unanswered'
        WHERE s.questionnaire = $1 AND s.status = 'in_progress'
        """
}
