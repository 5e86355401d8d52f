import BusProtocol
import Database
import JSONText

/// A session with its answers, as it was read.
struct StoredSession: Sendable {
    var id: Identifier
    var status: SessionStatus
    var hash: [UInt8]
    var answers: [String: Answer]
    /// The database's clock when it was read.
    var now: Timestamp

    /// - Parameter rows: of ``SessionStore/load``: one for each answer, or one without an answer; none: no session.
    init?(_ rows: [Row]) throws {
        guard let first = rows.first else { return nil }
        id = try first.uuid("session_id")
        status = SessionStatus(rawValue: try first.text("status"))
        hash = try first.bytes("content_hash")
        now = try first.timestamp("now")
        answers = [:]
        for row in rows {
            guard let question = try row.optionalText("question") else { continue }
            answers[question] = Answer(
                state: AnswerState(rawValue: try row.text("state")),
                value: try row.optionalJSON("value").map { try JSONValue.parse($0) },
                revision: try row.integer("revision"), changedAt: try row.timestamp("changed_at"))
        }
    }
}
