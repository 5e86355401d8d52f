import JSONText

/// A session as its person sees it: what is answered, what is asked now, and where to go on.
public struct SessionView: PublicReply {
    public static let schema = JSONSchema.object([
        .required("id", .uuid),
        .required("status", SessionStatus.schema),
        .required("questionnaire", QuestionnaireReference.schema, "The version that the session is pinned to."),
        .required("answers", .array(of: AnswerView.schema, count: 0...10_000), "Of what is asked, in question order."),
        .required("subjects", .array(of: SubjectView.schema, count: 0...500), "Of sections that repeat, in order."),
        .required("asked", .array(of: AskedQuestion.schema, count: 0...500), "What is asked now, in order."),
        .required("progress", QuestionnaireProgress.schema),
        .required("next", .nullable(NextQuestion.schema), "Where to go on; null when nothing is left."),
        .required("lastCompleted", .nullable(AnsweredPlace.schema), "The last that was dealt with before `next`."),
        .required("openedAt", .dateTime),
        .optional("completedAt", .dateTime),
        .optional("result", SessionResult.schema, "The newest snapshot, once the session was completed."),
        .optional("isNew", .boolean, "True: it was opened by this request."),
        .optional("offer", SessionOffer.schema, "Of an open session: a newer version to ask the person about."),
    ])

    public var id: Identifier
    public var status: SessionStatus
    /// The version that the session is pinned to.
    public var questionnaire: QuestionnaireReference
    /// Of what is asked, in question order.
    public var answers: [AnswerView]
    /// Of sections that repeat, in order.
    public var subjects: [SubjectView]
    /// What is asked now, in order.
    public var asked: [AskedQuestion]
    public var progress: QuestionnaireProgress
    /// `nil` when nothing is left.
    public var next: NextQuestion?
    /// The last that was dealt with before ``next``.
    public var lastCompleted: AnsweredPlace?
    public var openedAt: Timestamp
    public var completedAt: Timestamp?
    /// The newest snapshot, once the session was completed.
    public var result: SessionResult?
    /// `true`: it was opened by this request.
    public var isNew: Bool?
    /// Of an open session: a newer version that the person may be asked about. Came later and is optional.
    public var offer: SessionOffer?

    public var isCreated: Bool { isNew == true }

    public init(
        id: Identifier, status: SessionStatus, questionnaire: QuestionnaireReference, answers: [AnswerView],
        subjects: [SubjectView], asked: [AskedQuestion], progress: QuestionnaireProgress, next: NextQuestion?,
        lastCompleted: AnsweredPlace?, openedAt: Timestamp, completedAt: Timestamp? = nil,
        result: SessionResult? = nil, isNew: Bool? = nil, offer: SessionOffer? = nil
    ) {
        self.id = id
        self.status = status
        self.questionnaire = questionnaire
        self.answers = answers
        self.subjects = subjects
        self.asked = asked
        self.progress = progress
        self.next = next
        self.lastCompleted = lastCompleted
        self.openedAt = openedAt
        self.completedAt = completedAt
        self.result = result
        self.isNew = isNew
        self.offer = offer
    }

    public func encoded() -> [UInt8] {
        JSONObjectWriter.bytes { json in
            json.member("answers", objects: answers) { $1.write(to: &$0) }
            json.member("asked", objects: asked) { $1.write(to: &$0) }
            if let completedAt { json.member("completedAt", completedAt.description) }
            json.member("id", id.description)
            if let isNew { json.member("isNew", isNew) }
            json.member("lastCompleted", optional: lastCompleted) { $1.write(to: &$0) }
            json.member("next", optional: next) { $1.write(to: &$0) }
            if let offer { json.member("offer") { offer.write(to: &$0) } }
            json.member("openedAt", openedAt.description)
            json.member("progress") { progress.write(to: &$0) }
            json.member("questionnaire") { questionnaire.write(to: &$0) }
            if let result { json.member("result") { result.write(to: &$0) } }
            json.member("status", status.rawValue)
            json.member("subjects", objects: subjects) { $1.write(to: &$0) }
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(status, forKey: .status)
        try container.encode(questionnaire, forKey: .questionnaire)
        try container.encode(answers, forKey: .answers)
        try container.encode(subjects, forKey: .subjects)
        try container.encode(asked, forKey: .asked)
        try container.encode(progress, forKey: .progress)
        // Written as null, too: a client tells "nothing" from "left out".
        try container.encode(next, forKey: .next)
        try container.encode(lastCompleted, forKey: .lastCompleted)
        try container.encode(openedAt, forKey: .openedAt)
        try container.encodeIfPresent(completedAt, forKey: .completedAt)
        try container.encodeIfPresent(result, forKey: .result)
        try container.encodeIfPresent(isNew, forKey: .isNew)
        try container.encodeIfPresent(offer, forKey: .offer)
    }
}

/// A newer version of a session's questionnaire; `POST …/migrations` moves the session to it.
public struct SessionOffer: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("version", .integer(1...2_147_483_647)),
        .required(
            "class", .string(1...32),
            "What it asks of the person: `editorial`, `additive`, `rescore`, `reask` or `breaking`."),
    ])

    public var version: Int64
    /// What it asks of the person: `editorial`, `additive`, `rescore`, `reask` or `breaking`.
    public var `class`: String

    public init(version: Int64, class: String) { (self.version, self.class) = (version, `class`) }
}

/// The answer to ``ListQuestionnaireSessions``, the newest first.
public struct QuestionnaireSessionList: PublicReply {
    public static let schema = JSONSchema.object([
        .required("sessions", .array(of: SessionSummary.schema, count: 0...1000))
    ])
    public var sessions: [SessionSummary]
    public init(sessions: [SessionSummary]) { self.sessions = sessions }
}

/// A session without its answers.
public struct SessionSummary: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("id", .uuid),
        .required("status", SessionStatus.schema),
        .required("version", .integer(1...2_147_483_647), "Version of the definition that the session is pinned to."),
        .required("hash", .string(64...64), "SHA-256 of that definition, in hexadecimal digits."),
        .required("openedAt", .dateTime),
        .optional("completedAt", .dateTime),
    ])

    public var id: Identifier
    public var status: SessionStatus
    public var version: Int64
    /// 64 hexadecimal digits.
    public var hash: String
    public var openedAt: Timestamp
    public var completedAt: Timestamp?

    public init(
        id: Identifier, status: SessionStatus, version: Int64, hash: String, openedAt: Timestamp,
        completedAt: Timestamp? = nil
    ) {
        self.id = id
        self.status = status
        self.version = version
        self.hash = hash
        self.openedAt = openedAt
        self.completedAt = completedAt
    }
}

/// Somebody whom a section that repeats is asked about.
public struct SubjectView: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("id", .uuid),
        .required("kind", .string(1...64), "What the section calls them: `child`, say."),
        .optional("label", .string(1...4096), "Where something was said."),
    ])

    public var id: Identifier
    /// What the section calls them: `child`, say.
    public var kind: String
    /// As the person calls it.
    public var label: String?

    public init(id: Identifier, kind: String, label: String? = nil) {
        (self.id, self.kind, self.label) = (id, kind, label)
    }
}

/// A question that is asked now, with what depends on the person's answers.
public struct AskedQuestion: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64)),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
        .required("required", .boolean),
        .optional("options", .array(of: .string(1...64), count: 0...500), "Where not everybody is offered the same."),
    ])

    public var question: String
    public var subject: Identifier?
    public var required: Bool
    /// Keys of the options offered, where not everybody is offered the same.
    public var options: [String]?

    public init(question: String, subject: Identifier? = nil, required: Bool, options: [String]? = nil) {
        self.question = question
        self.subject = subject
        self.required = required
        self.options = options
    }
}

/// Where a person goes on.
public struct NextQuestion: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64)),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
        .required(
            "reason", .string(1...32),
            "`unanswered`, `stale`, `newly_visible`: asked only since this write, or `subject_wanted`: the section wants "
                + "one more to be asked about."),
        .required("before", SessionMembers.places, "Screens to show first, which only inform."),
    ])

    public var question: String
    public var subject: Identifier?
    /// `unanswered`, `stale`, `newly_visible` or `subject_wanted`.
    public var reason: String
    /// Places of screens to show first, which only inform.
    public var before: [String]

    public init(question: String, subject: Identifier? = nil, reason: String, before: [String] = []) {
        self.question = question
        self.subject = subject
        self.reason = reason
        self.before = before
    }
}

/// A question and, in a section that repeats, whom it is about.
public struct AnsweredPlace: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64)),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
    ])

    public var question: String
    public var subject: Identifier?

    public init(question: String, subject: Identifier? = nil) { (self.question, self.subject) = (question, subject) }
}

/// What a session came to. It never changes: a later answer makes another one.
public struct SessionResult: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("number", .integer(1...2_147_483_647), "1 for the completion, more for each later change."),
        .required("version", .integer(1...2_147_483_647)),
        .required("hash", .string(64...64), "SHA-256 of the canonical definition, in hexadecimal digits."),
        .required("takenAt", .dateTime),
        .required("answers", .any, "What was visible then, by place: `question`, or `question/subject`."),
        .required("scores", .any, "By dimension."),
    ])

    /// 1 for the completion, more for each later change.
    public var number: Int64
    public var version: Int64
    /// 64 hexadecimal digits.
    public var hash: String
    public var takenAt: Timestamp
    /// What was visible then, by place.
    public var answers: JSONValue
    /// By dimension.
    public var scores: JSONValue

    public init(
        number: Int64, version: Int64, hash: String, takenAt: Timestamp, answers: JSONValue, scores: JSONValue
    ) {
        self.number = number
        self.version = version
        self.hash = hash
        self.takenAt = takenAt
        self.answers = answers
        self.scores = scores
    }
}

// A long questionnaire has hundreds of answers and questions in each view.

extension AnswerView {
    fileprivate func write(to json: inout JSONObjectWriter) {
        json.member("answeredAt", answeredAt.description)
        if let preference {
            json.member("preference") { json in
                json.member("acceptable", preference.acceptable)
                json.member("importance", preference.importance)
            }
        }
        json.member("question", question)
        json.member("revision", revision)
        if let stale { json.member("stale", stale) }
        json.member("state", state.rawValue)
        if let subject { json.member("subject", subject.description) }
        if let value { json.member("value", json: value) }
    }
}

extension AskedQuestion {
    fileprivate func write(to json: inout JSONObjectWriter) {
        if let options { json.member("options", options) }
        json.member("question", question)
        json.member("required", required)
        if let subject { json.member("subject", subject.description) }
    }
}

extension SubjectView {
    fileprivate func write(to json: inout JSONObjectWriter) {
        json.member("id", id.description)
        json.member("kind", kind)
        if let label { json.member("label", label) }
    }
}

extension NextQuestion {
    func write(to json: inout JSONObjectWriter) {
        json.member("before", before)
        json.member("question", question)
        json.member("reason", reason)
        if let subject { json.member("subject", subject.description) }
    }
}

extension AnsweredPlace {
    fileprivate func write(to json: inout JSONObjectWriter) {
        json.member("question", question)
        if let subject { json.member("subject", subject.description) }
    }
}

extension QuestionnaireProgress {
    func write(to json: inout JSONObjectWriter) {
        json.member("answered", answered)
        json.member("percentage", percentage)
        json.member("requiredRemaining", requiredRemaining)
        json.member("total", total)
    }
}

extension QuestionnaireReference {
    fileprivate func write(to json: inout JSONObjectWriter) {
        json.member("hash", hash)
        json.member("key", key)
        json.member("title", title)
        json.member("version", version)
    }
}

extension SessionOffer {
    fileprivate func write(to json: inout JSONObjectWriter) {
        json.member("class", self.class)
        json.member("version", version)
    }
}

extension SessionResult {
    fileprivate func write(to json: inout JSONObjectWriter) {
        json.member("answers", json: answers)
        json.member("hash", hash)
        json.member("number", number)
        json.member("scores", json: scores)
        json.member("takenAt", takenAt.description)
        json.member("version", version)
    }
}
