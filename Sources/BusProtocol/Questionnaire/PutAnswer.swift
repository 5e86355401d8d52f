import JSONText

/// Saves one answer (`PUT /questionnaires/{key}/sessions/{id}/answers/{question}`); it is answered when it is committed.
///
/// The same mutation id with the same content is answered as the first time. A revision that is not the answer's own is
/// refused where the value is another one, with what stands there now (`current`).
public struct PutAnswer: BusRequest {
    public typealias Reply = AnswerSaved
    public static let type: MessageType = "questionnaire.put-answer"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .answerConflict, .mutationIDReused, .versionClosed,
            .sessionStopped,
        ])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.session,
        .required("question", .string(1...64), "Key of the question."),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
        .required("mutationId", .uuid, "Makes the write safe to repeat, also after later writes."),
        .optional(
            "baseRevision", .integer(0...9_007_199_254_740_991), "Revision of this answer that the client saw; 0: none."
        ),
        .required("state", .values("answered", "skipped", "declined", "acknowledged")),
        .optional("value", .any, "In the form of the question's type, where the state is `answered`."),
        .optional("clientTime", .dateTime, "When the person answered."),
        SessionMembers.device, SessionMembers.force, SessionMembers.preference,
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// Key of the question.
    public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    /// Makes the write safe to repeat, also after later writes.
    public var mutationId: Identifier
    /// Revision of this answer that the client saw; 0: it saw none.
    public var baseRevision: Int64?
    public var state: AnswerState
    /// In the form of the question's type.
    public var value: JSONValue?
    /// When the person answered, by the client's clock.
    public var clientTime: Timestamp?
    /// What the person calls the device that writes; a conflict tells it. Came later and is optional.
    public var device: String?
    /// `true`: written although the answer is not at ``baseRevision`` any more. Came later and is optional.
    public var force: Bool?
    /// What one wants of another person's answer, where the question asks for it. Came later and is optional.
    public var preference: AnswerPreference?

    public init(
        questionnaire: String, sessionId: Identifier, question: String, subject: Identifier? = nil,
        mutationId: Identifier, baseRevision: Int64? = nil, state: AnswerState, value: JSONValue? = nil,
        clientTime: Timestamp? = nil, device: String? = nil, force: Bool? = nil, preference: AnswerPreference? = nil
    ) {
        self.questionnaire = questionnaire
        self.sessionId = sessionId
        self.question = question
        self.subject = subject
        self.mutationId = mutationId
        self.baseRevision = baseRevision
        self.state = state
        self.value = value
        self.clientTime = clientTime
        (self.device, self.force) = (device, force)
        self.preference = preference
    }
}

/// Takes one answer back (`DELETE /questionnaires/{key}/sessions/{id}/answers/{question}`): its history stays, and its
/// revisions go on.
public struct DeleteAnswer: BusRequest {
    public typealias Reply = AnswerSaved
    public static let type: MessageType = "questionnaire.delete-answer"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .answerConflict, .mutationIDReused, .versionClosed,
            .sessionStopped,
        ])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.session,
        .required("question", .string(1...64), "Key of the question."),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
        .optional("mutationId", .uuid, "Makes the write safe to repeat, also after later writes."),
        .optional(
            "baseRevision", .integer(0...9_007_199_254_740_991), "Revision of this answer that the client saw; 0: none."
        ),
        .optional("clientTime", .dateTime, "When the person took it back."),
        SessionMembers.device, SessionMembers.force,
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// Key of the question.
    public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    /// Makes the write safe to repeat, also after later writes.
    public var mutationId: Identifier?
    /// Revision of this answer that the client saw; 0: it saw none.
    public var baseRevision: Int64?
    /// When the person took it back, by the client's clock.
    public var clientTime: Timestamp?
    /// What the person calls the device that writes; a conflict tells it. Came later and is optional.
    public var device: String?
    /// `true`: written although the answer is not at ``baseRevision`` any more. Came later and is optional.
    public var force: Bool?

    public init(
        questionnaire: String, sessionId: Identifier, question: String, subject: Identifier? = nil,
        mutationId: Identifier? = nil, baseRevision: Int64? = nil, clientTime: Timestamp? = nil,
        device: String? = nil, force: Bool? = nil
    ) {
        self.questionnaire = questionnaire
        self.sessionId = sessionId
        self.question = question
        self.subject = subject
        self.mutationId = mutationId
        self.baseRevision = baseRevision
        self.clientTime = clientTime
        (self.device, self.force) = (device, force)
    }
}

/// The session after one answer was saved or taken back. Places are `question`, or `question/subject`.
public struct AnswerSaved: PublicReply {
    public static let schema = JSONSchema.object([
        .required(
            "revision", .integer(0...9_007_199_254_740_991), "The `baseRevision` of the next write; 0: no answer."),
        .required("progress", QuestionnaireProgress.schema),
        .required("next", .nullable(NextQuestion.schema), "Where to go on; null when nothing is left."),
        .required("shown", SessionMembers.places, "What is asked now and was not before."),
        .required(
            "hidden", SessionMembers.places, "What is not asked any more, and what was answered without being so."),
        .required("stale", SessionMembers.places, "Whose answer has an option in it that is not offered any more."),
    ])

    /// The `baseRevision` of the next write of this answer; 0: there is none.
    public var revision: Int64
    public var progress: QuestionnaireProgress
    /// `nil` when nothing is left.
    public var next: NextQuestion?
    /// What is asked now and was not before.
    public var shown: [String]
    /// What is not asked any more, and what was answered without being asked; such answers are kept.
    public var hidden: [String]
    /// Whose answer is none since this request, as an option in it is not offered any more.
    public var stale: [String]

    public init(
        revision: Int64, progress: QuestionnaireProgress, next: NextQuestion?, shown: [String] = [],
        hidden: [String] = [], stale: [String] = []
    ) {
        self.revision = revision
        self.progress = progress
        self.next = next
        (self.shown, self.hidden, self.stale) = (shown, hidden, stale)
    }

    public func encoded() -> [UInt8] {
        JSONObjectWriter.bytes { json in
            json.member("hidden", hidden)
            json.member("next", optional: next) { $1.write(to: &$0) }
            json.member("progress") { progress.write(to: &$0) }
            json.member("revision", revision)
            json.member("shown", shown)
            json.member("stale", stale)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(revision, forKey: .revision)
        try container.encode(progress, forKey: .progress)
        // Written as null, too: a client tells "finished" from "left out".
        try container.encode(next, forKey: .next)
        try container.encode(shown, forKey: .shown)
        try container.encode(hidden, forKey: .hidden)
        try container.encode(stale, forKey: .stale)
    }
}
