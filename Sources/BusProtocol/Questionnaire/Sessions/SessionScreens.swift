import JSONText

/// Asks for a session as the screens that a client draws, in one language.
///
/// The person is the request's actor.
@Message
public struct GetSessionScreens: PublicRequest {
    public typealias Reply = SessionScreens
    public static let type: MessageType = "questionnaire.get-session-screens"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}/sessions/{id}/view", .user, "One session as screens to draw.",
        isRevalidated: true)

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person prefers (RFC 9110).
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// A session as the screens that a client draws. Every text is in one language.
@Message
public struct SessionScreens: PublicReply {
    /// The version that the session uses.
    public var questionnaire: QuestionnaireReference
    /// The language of every text (RFC 5646).
    @Field(.string(2...64), example: "en") public var locale: String
    /// Raised by every change of the session.
    @Field(.count) public var revision: Int64
    /// The name of this state, in hexadecimal digits: the entity tag.
    @Field(.string(64...64), example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
    public var tag: String
    /// The screens of the questions that are asked now, in order.
    @Field(count: 0...500) public var screens: [Screen]
    /// The answers to these questions, in order.
    @Field(count: 0...10_000) public var answers: [AnswerView]
    /// The subjects of sections that repeat, in order.
    @Field(count: 0...500) public var subjects: [SubjectView]
    /// How much of the questionnaire is answered.
    public var progress: QuestionnaireProgress
    /// Where to continue; `null` if nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// One line for each question that takes an answer, for a page to check the answers on.
    @Field(count: 0...500) public var review: [ReviewLine]

    public var entityTag: EntityTag? { EntityTag(rawValue: tag) }
    public var contentLanguage: String? { locale }
}

/// One question, with the screens without a question that come directly before it.
@Message
public struct Screen: MessageValue {
    /// The place of the last question on the screen. `next` names a screen by its question and subject.
    @Field(QuestionnaireSessionPlaces.one) public var key: String
    /// For the address of the screen.
    @Field(.string(1...64)) public var slug: String?
    /// The key of the section.
    @Field(.string(1...64)) public var section: String
    /// The subject, in a section that repeats.
    public var subject: Identifier?
    /// Present if the section needs another subject: the section's name for its subjects.
    ///
    /// The answer to the question, if there is one, becomes the subject's label.
    @Field(.string(1...64), example: "child") public var adds: String?
    /// The title of the section, or else of the questionnaire.
    @Field(.string(1...1000)) public var title: String
    /// The questions to draw, from top to bottom. Only the last one takes an answer.
    @Field(count: 0...500) public var questions: [ScreenQuestion]
}

/// A question, or a field of the profile, as a client draws it.
@Message
public struct ScreenQuestion: MessageValue {
    /// The key of the question or field.
    @Field(.string(1...64)) public var key: String
    /// The subject that it is about, in a section that repeats.
    public var subject: Identifier?
    /// What kind of answer the question takes.
    @Field(.questionType) public var type: String
    /// What to draw. A client that does not know the control draws the type's own one.
    @Field(.control) public var control: String
    /// The question as the person reads it.
    @Field(.string(1...1000)) public var label: String
    /// An explanation of the question.
    @Field(.string(1...1000)) public var help: String?
    /// Whether the session, or the profile, needs an answer to be complete.
    public var required: Bool
    /// Whether the question may be skipped now.
    public var skippable: Bool
    /// Whether an answer may be declined.
    public var declinable: Bool
    /// The words for declining, if the service has them in this language.
    @Field(.string(1...200), example: "Prefer not to say") public var declineLabel: String?
    /// A suggestion. It is no answer until the client sends it.
    public var `default`: JSONValue?
    /// What an answer must keep to.
    public var constraints: QuestionConstraints = QuestionConstraints()
    /// The unit of a number.
    @Field(.string(1...64)) public var unit: String?
    /// The options that are offered. Those of a field of the profile stand in the field.
    @Field(count: 1...500) public var options: [QuestionOption]?
    /// How to upload the picture that is asked for. The answer to a question is the picture's `mediaId`; a field of the profile takes none.
    public var upload: PictureUpload?
}

/// How a picture is uploaded.
@Message
public struct PictureUpload: MessageValue {
    /// What the picture is for: the `kind` to send.
    @Field(.string(1...64), example: "profile_photo") public var kind: String
    /// Where to ask for an address to upload to (POST).
    @Field(.string(1...200), example: "/media") public var href: String
    /// Where the picture gets its place once it has arrived (PUT).
    @Field(.string(1...200), example: "/users/me/photos") public var placesHref: String

    /// A photo of the profile.
    public static let profilePhoto = PictureUpload(
        kind: "profile_photo", href: CreateUpload.route.path, placesHref: PutPhotos.route.path)
}

/// A question with its answer as the person reads it.
@Message
public struct ReviewLine: MessageValue {
    /// The key of the screen on which the answer is changed.
    @Field(QuestionnaireSessionPlaces.one, example: "lifestyle") public var screen: String
    /// The question as the person reads it.
    @Field(.string(1...1000)) public var label: String
    /// What the person did with the question.
    public var state: AnswerState
    /// The answer as the person reads it: one text for each thing that was chosen, else at most one.
    ///
    /// Empty if there is no answer, or if the service has no words for it in this language.
    @Field(.string(1...4096), count: 0...600, example: "Never") public var texts: [String]
    /// `true`: the question needs a new answer.
    @Field(example: false) public var stale: Bool?
}
