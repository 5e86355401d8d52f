import JSONText

/// A session as its person sees it: what is answered, what is asked now, and where to go on.
@Message
public struct SessionView: PublicReply {
    public var id: Identifier
    public var status: SessionStatus
    /// The version that the session is pinned to.
    public var questionnaire: QuestionnaireReference
    /// Of what is asked, in question order.
    @Field(count: 0...10_000) public var answers: [AnswerView]
    /// Of sections that repeat, in order.
    @Field(count: 0...500) public var subjects: [SubjectView]
    /// What is asked now, in order.
    @Field(count: 0...500) public var asked: [AskedQuestion]
    public var progress: QuestionnaireProgress
    /// Where to go on; null when nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// The last that was dealt with before `next`.
    @Field(.nullable(AnsweredPlace.schema), isRequired: true) public var lastCompleted: AnsweredPlace?
    public var openedAt: Timestamp
    public var completedAt: Timestamp?
    /// The newest snapshot, once the session was completed.
    public var result: SessionResult?
    /// `true`: it was opened by this request.
    public var isNew: Bool?
    /// Of an open session: a newer version that the person may be asked about.
    public var offer: SessionOffer?

    public var isCreated: Bool { isNew == true }
}

/// A newer version of a session's questionnaire; `POST …/migrations` moves the session to it.
@Message
public struct SessionOffer: MessageValue {
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// What it asks of the person: `editorial`, `additive`, `rescore`, `reask` or `breaking`.
    @Field(.string(1...32)) public var `class`: String
}

/// The answer to ``ListQuestionnaireSessions``, the newest first.
@Message
public struct QuestionnaireSessionList: PublicReply {
    @Field(count: 0...1000) public var sessions: [SessionSummary]
}

/// A session without its answers.
@Message
public struct SessionSummary: MessageValue {
    public var id: Identifier
    public var status: SessionStatus
    /// Version of the definition that the session is pinned to.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of that definition, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    public var openedAt: Timestamp
    public var completedAt: Timestamp?
}

/// Somebody whom a section that repeats is asked about.
@Message
public struct SubjectView: MessageValue {
    public var id: Identifier
    /// What the section calls them: `child`, say.
    @Field(.string(1...64)) public var kind: String
    /// Where something was said.
    ///
    /// As the person calls it.
    @Field(.string(1...4096)) public var label: String?
}

/// A question that is asked now, with what depends on the person's answers.
@Message
public struct AskedQuestion: MessageValue {
    @Field(.string(1...64)) public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    public var required: Bool
    /// Keys of the options offered, where not everybody is offered the same.
    @Field(.string(1...64), count: 0...500) public var options: [String]?
}

/// Where a person goes on.
@Message
public struct NextQuestion: MessageValue {
    @Field(.string(1...64)) public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    /// `unanswered`, `stale`, `newly_visible`: asked only since this write, or `subject_wanted`: the section wants one more to
    /// be asked about.
    @Field(.string(1...32)) public var reason: String
    /// Places of screens to show first, which only inform.
    @Field(SessionPlaces.list) public var before: [String] = []
}

/// A question and, in a section that repeats, whom it is about.
@Message
public struct AnsweredPlace: MessageValue {
    @Field(.string(1...64)) public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
}

/// What a session came to. It never changes: a later answer makes another one.
@Message
public struct SessionResult: MessageValue {
    /// 1 for the completion, more for each later change.
    @Field(.integer(1...2_147_483_647)) public var number: Int64
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the canonical definition, in hexadecimal digits.
    ///
    /// 64 hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    public var takenAt: Timestamp
    /// What was visible then, by place: `question`, or `question/subject`.
    public var answers: JSONValue
    /// By dimension.
    public var scores: JSONValue
}
