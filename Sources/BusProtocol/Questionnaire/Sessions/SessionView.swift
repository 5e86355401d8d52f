import JSONText

/// A session as its person sees it: its answers, its questions, and where to continue.
@Message
public struct SessionView: PublicReply {
    /// The session.
    public var id: Identifier
    /// The status of the session.
    public var status: SessionStatus
    /// The version that the session uses.
    public var questionnaire: QuestionnaireReference
    /// The answers to the questions that are asked, in question order.
    @Field(count: 0...10_000) public var answers: [AnswerView]
    /// The subjects of sections that repeat, in order.
    @Field(count: 0...500) public var subjects: [SubjectView]
    /// The questions that are asked now, in order.
    @Field(count: 0...500) public var asked: [AskedQuestion]
    /// How much of the questionnaire is answered.
    public var progress: QuestionnaireProgress
    /// Where to continue; `null` if nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// The screens behind the last question that are not acknowledged yet. Missing while something is left to answer.
    @Field(QuestionnaireSessionPlaces.list) public var closing: [String]?
    /// The last question before `next` that was dealt with.
    @Field(.nullable(AnsweredPlace.schema), isRequired: true) public var lastCompleted: AnsweredPlace?
    /// When the session was opened.
    public var openedAt: Timestamp
    /// When the session was last completed.
    public var completedAt: Timestamp?
    /// The newest snapshot, if the session was completed.
    public var result: SessionResult?
    /// `true`: this request opened the session.
    public var isNew: Bool?
    /// For an open session: a newer version to which the person may move it.
    public var offer: SessionOffer?

    public var hasOtherSuccess: Bool { isNew == true }
}

/// A newer version of a session's questionnaire. `POST …/migrations` moves the session to it.
@Message
public struct SessionOffer: MessageValue {
    /// The number of the version.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// What the version asks of the person: `editorial`, `additive`, `rescore`, `reask` or `breaking`.
    @Field(.changeClass) public var `class`: String
}

/// The reply to ``ListQuestionnaireSessions``.
@Message
public struct QuestionnaireSessionList: PublicReply {
    /// The sessions, the newest first.
    @Field(count: 0...1000) public var sessions: [SessionSummary]
}

/// A session without its answers.
@Message
public struct SessionSummary: MessageValue {
    /// The session.
    public var id: Identifier
    /// The status of the session.
    public var status: SessionStatus
    /// The version of the definition that the session uses.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of that definition, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    /// When the session was opened.
    public var openedAt: Timestamp
    /// When the session was last completed.
    public var completedAt: Timestamp?
}

/// A person or thing that a section is repeated for.
@Message
public struct SubjectView: MessageValue {
    /// The subject.
    public var id: Identifier
    /// The section's name for its subjects, such as `child`.
    @Field(.string(1...64)) public var kind: String
    /// The person's name for the subject, if it has one.
    @Field(.string(1...4096), example: "Maja") public var label: String?
}

/// A question that is asked now, with what depends on the person's answers.
@Message
public struct AskedQuestion: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The subject, in a section that repeats.
    public var subject: Identifier?
    /// Whether the session needs an answer to be completed.
    public var required: Bool
    /// The keys of the options that are offered, if not everybody is offered the same.
    @Field(.string(1...64), count: 0...500) public var options: [String]?
}

/// Where a person continues.
@Message
public struct NextQuestion: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The subject, in a section that repeats.
    public var subject: Identifier?
    /// `unanswered`, `stale`, `newly_visible` (asked only since this write) or `subject_wanted` (the section needs
    /// another subject).
    @Field(.nextReason) public var reason: String
    /// The places of screens without a question that come before it.
    @Field(QuestionnaireSessionPlaces.list, example: "welcome") public var before: [String] = []
}

/// A question and, in a section that repeats, its subject.
@Message
public struct AnsweredPlace: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The subject, in a section that repeats.
    public var subject: Identifier?
}

/// The result of a session. It never changes; a later answer makes another one.
@Message
public struct SessionResult: MessageValue {
    /// 1 for the first completion, then counting up with each change.
    @Field(.integer(1...2_147_483_647)) public var number: Int64
    /// The version of the definition that the session used.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the canonical definition, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    /// When the snapshot was taken.
    public var takenAt: Timestamp
    /// The answers that were visible then, by place: `question` or `question/subject`.
    public var answers: JSONValue
    /// The scores by dimension.
    public var scores: JSONValue
}
