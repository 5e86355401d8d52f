import BusProtocol
import Cryptography
import Database
import JSONText
import ServiceRuntime

/// A session with its answers, as it was read.
struct StoredSession: Sendable {
    var id: Identifier
    var status: SessionStatus
    var version: Int64
    var hash: [UInt8]
    /// When its version was retired; `nil`: it is in use, or no newer one is, to which its people could go.
    var retiredAt: Timestamp?
    var openedAt: Timestamp
    var completedAt: Timestamp?
    /// Goes up whenever somebody has taken the session to change it.
    var revision: Int64
    /// How many snapshots were taken.
    var snapshots: Int64
    /// By their places' keys.
    var answers: [String: Answer]
    /// Bytes of memory that the answers take, about.
    var answersSize: Int
    var subjects: [Subject]
    /// What it is pinned to beside its definition, by name; `null`: not known.
    var facts: [String: JSONValue]
    /// What is remembered of the mutation ids that were asked for.
    var mutations: [RecordedMutation]
    /// The database's clock when it was read.
    var now: Timestamp

    /// - Parameters:
    ///   - rows: of ``SessionStore/load``: one of the session and one for each answer; none: no session.
    ///   - known: whose answers were not asked for where it is of the same revision.
    init?(_ rows: [Row], of person: Identifier, _ dates: DateSealer, knowing known: StoredSession? = nil) throws {
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
        mutations = try Self.list(first, "mutations").compactMap { try RecordedMutation($0, of: person, dates) }
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
                value: try value.map { try dates.opened(try JSONValue.parse($0), of: person) },
                revision: try row.integer("answer_revision"), changedAt: try row.timestamp("changed_at"),
                device: try row.optionalText("device"),
                preference: try preference.flatMap { AnswerPreference(try JSONValue.parse($0)) },
                isStale: try row.bool("is_stale"))
            answersSize += answer.size(at: question, texts: (value?.count ?? 0) + (preference?.count ?? 0))
            answers[question] = answer
        }
    }

    /// The day at which it was read, where the person is; by UTC where that was not known when it was opened.
    var today: CivilDate {
        facts[SessionFacts.timeZone]?.stringValue.flatMap { PersonTimeZone($0) }?.date(at: now) ?? now.date
    }

    /// Bytes of memory that it takes, about.
    var size: Int { answersSize + subjects.reduce(512) { $0 + 128 + ($1.label?.utf8.count ?? 0) } }

    private static func list(_ row: Row, _ column: String) throws -> [JSONValue] {
        try row.optionalJSON(column).map { try JSONValue.parse($0).arrayValue ?? [] } ?? []
    }
}

extension Answer {
    /// Bytes of memory that it takes with its place in a sheet, about.
    ///
    /// - Parameter texts: bytes of its value and its preference as JSON.
    fileprivate func size(at key: String, texts: Int) -> Int {
        512 + key.utf8.count + (device?.utf8.count ?? 0) + texts
    }

    /// As it counts in ``StoredSession/answersSize``.
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
    fileprivate init?(_ json: JSONValue, of person: Identifier, _ dates: DateSealer) throws {
        guard let id = json["id"]?.stringValue.flatMap({ Identifier($0) }),
            let digest = json["digest"]?.stringValue.flatMap(Hex.decode), let key = json["key"]?.stringValue,
            let revision = json["revision"]?.integerValue
        else { return nil }
        let reply = json["reply"]
        self.init(
            id: id, digest: try dates.opened(digest, of: person), key: key, revision: revision,
            reply: reply == .null ? nil : reply)
    }
}
