import BusProtocol
import Cryptography
import Database
import JSONText
import ServiceRuntime

/// A session with its answers, as read from the database.
struct StoredQuestionnaireSession: Sendable {
    var id: Identifier
    var status: SessionStatus
    var version: Int64
    var hash: [UInt8]
    /// When the version was retired; `nil` if it is in use, or if there is no newer version in use to move to.
    var retiredAt: Timestamp?
    var openedAt: Timestamp
    var completedAt: Timestamp?
    /// Increases whenever a request locks the session to change it.
    var revision: Int64
    /// The number of snapshots.
    var snapshots: Int64
    /// By the keys of their places.
    var answers: [String: Answer]
    /// The approximate bytes of memory that the answers take.
    var answersSize: Int
    var subjects: [Subject]
    /// The facts that the session is pinned to, by name. `null` means unknown.
    var facts: [String: JSONValue]
    /// The stored mutations whose ids were requested.
    var mutations: [RecordedMutation]
    /// The time of the read, by the database's clock.
    var now: Timestamp

    /// - Parameters:
    ///   - rows: from ``QuestionnaireSessionStore/load``: one for the session and one for each answer. Without rows
    ///     there is no session.
    ///   - known: the session as read before. If the revision is the same, its answers are reused and `rows` has none.
    init?(
        _ rows: [Row], of person: Identifier, _ sealer: AnswerSealer, knowing known: StoredQuestionnaireSession? = nil
    ) throws {
        guard let first = try rows.first(where: { try $0.optionalUUID("session_id") != nil }) else { return nil }
        id = try first.uuid("session_id")
        status = SessionStatus(rawValue: try first.text("status"))
        version = try first.integer("version")
        hash = try first.bytes("content_hash")
        retiredAt = try first.optionalTimestamp("retired_at")
        openedAt = try first.timestamp("opened_at")
        completedAt = try first.optionalTimestamp("completed_at")
        revision = try first.integer("revision")
        snapshots = try first.integer("snapshots")
        now = try first.timestamp("now")
        subjects = try Self.list(first, "subjects").compactMap(Subject.init)
        facts = try JSONValue.parse(try first.json("facts")).objectValue ?? [:]
        mutations = try Self.list(first, "mutations").compactMap { try RecordedMutation($0, of: person, sealer) }
        if let known, known.id == id, known.revision == revision {
            (answers, answersSize) = (known.answers, known.answersSize)
            return
        }
        (answers, answersSize) = (Dictionary(minimumCapacity: rows.count), 0)
        for row in rows {
            guard let question = try row.optionalText("question") else { continue }
            let (value, preference) = (try row.optionalJSON("value"), try row.optionalJSON("preference"))
            let answer = Answer(
                state: AnswerState(rawValue: try row.text("answer_state")),
                value: try value.map { try sealer.opened(try JSONValue.parse($0), of: person) },
                revision: try row.integer("answer_revision"), changedAt: try row.timestamp("changed_at"),
                device: try row.optionalText("device"),
                preference: try preference.flatMap { AnswerPreference(try JSONValue.parse($0)) },
                isStale: try row.bool("is_stale"))
            answersSize += answer.size(at: question, texts: (value?.count ?? 0) + (preference?.count ?? 0))
            answers[question] = answer
        }
    }

    /// The date of the read in the person's time zone.
    var today: CivilDate { QuestionnaireSessionFacts.today(at: now, facts) }

    /// The approximate bytes of memory that the session takes.
    var size: Int { answersSize + subjects.reduce(512) { $0 + 128 + ($1.label?.utf8.count ?? 0) } }

    private static func list(_ row: Row, _ column: String) throws -> [JSONValue] {
        try row.optionalJSON(column).map { try JSONValue.parse($0).arrayValue ?? [] } ?? []
    }
}

extension QuestionnaireSessionFacts {
    /// The date in the person's time zone. If the facts of the session have none, it is the date in UTC.
    static func today(at time: Timestamp, _ facts: [String: JSONValue]) -> CivilDate {
        facts[timeZone]?.stringValue.flatMap { PersonTimeZone($0) }?.date(at: time) ?? time.date
    }
}

extension Answer {
    /// The approximate bytes of memory that the answer and its place in a sheet take.
    ///
    /// - Parameter texts: the bytes of its value and its preference as JSON.
    fileprivate func size(at key: String, texts: Int) -> Int {
        512 + key.utf8.count + (device?.utf8.count ?? 0) + texts
    }

    /// The size as counted in ``StoredQuestionnaireSession/answersSize``.
    func size(at key: String) -> Int {
        let texts = [value, preference?.json].compactMap(\.self).map { CanonicalJSON.bytes(of: $0).count }
        return size(at: key, texts: texts.reduce(0, +))
    }
}

extension Subject {
    fileprivate init?(_ json: JSONValue) {
        guard let id = json["id"]?.stringValue.flatMap({ Identifier($0) }), let kind = json["kind"]?.stringValue,
            let position = json["position"]?.integerValue
        else { return nil }
        self.init(id: id, kind: kind, position: position, label: json["label"]?.stringValue)
    }
}

extension RecordedMutation {
    fileprivate init?(_ json: JSONValue, of person: Identifier, _ sealer: AnswerSealer) throws {
        guard let id = json["id"]?.stringValue.flatMap({ Identifier($0) }),
            let digest = json["digest"]?.stringValue.flatMap(Hex.decode), let key = json["key"]?.stringValue,
            let revision = json["revision"]?.integerValue
        else { return nil }
        let reply = json["reply"]
        self.init(
            id: id, digest: try sealer.opened(digest, of: person), key: key, revision: revision,
            reply: reply == .null ? nil : reply)
    }
}
