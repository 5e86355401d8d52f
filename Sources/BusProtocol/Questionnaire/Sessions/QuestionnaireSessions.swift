import JSONText

/// Opens a session of the newest published version. If a session is open, the reply has that one.
///
/// If the person has ``most`` sessions, the oldest stopped session is removed to make room. If none of them is stopped,
/// the request is refused. The person is the request's actor.
@Message
public struct OpenSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.open-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .tooManySessions])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions", .user, "Opens a session, or answers with the open one.",
        otherSuccess: 201)
    /// The most sessions of one person and questionnaire.
    public static let most: Int64 = 16
    /// The platforms on which a session can be opened.
    public static let platforms = ["ios", "android", "web"]

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for the title. The questionnaire's conditions may depend on the language.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
    /// Where the session is opened. The questionnaire's conditions may depend on it.
    ///
    /// A session that is already open keeps its platform.
    @Field(.platform) public var platform: String?
}

/// Lists the person's sessions of a questionnaire.
@Message
public struct ListQuestionnaireSessions: PublicRequest {
    public typealias Reply = QuestionnaireSessionList
    public static let type: MessageType = "questionnaire.list-sessions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}/sessions", .user, "The person's sessions.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
}

/// Asks for one session with all its answers.
@Message
public struct GetSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.get-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}/sessions/{id}", .user, "One session.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Completes a session that has every required answer, and takes its snapshot. A repetition gets the same reply.
///
/// Otherwise the request is refused, and the error lists what is missing in `missing`: `[{question, subject, reason}]`.
@Message
public struct CompleteSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.complete-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .questionnaireIncomplete, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/complete", .user, "Completes the session.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Opens a completed session again. Its snapshots are kept. When it is completed again, its status is `amended`.
///
/// An open session stays open.
@Message
public struct ReopenSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.reopen-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionAlreadyOpen, .sessionStopped])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/reopen", .user, "Opens a completed session again.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Ends an open session for good without completing it. A repetition gets the same reply.
///
/// A stopped session can be read and no longer counts. A session that is opened afterwards starts without answers.
@Message
public struct StopSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.stop-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionNotOpen])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/stop", .user, "Ends an open session for good without completing it."
    )

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// How messages about sessions name the place of an answer.
enum QuestionnaireSessionPlaces {
    /// `question` or `question/subject`.
    static let one = JSONSchema.string(1...101).named(
        "SessionPlace", "A question's key; in a section that repeats, `question/subject`.")
    static let list = JSONSchema.array(of: one, count: 0...500)
}
