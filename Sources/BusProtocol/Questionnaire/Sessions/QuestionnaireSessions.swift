import JSONText

/// Opens a session of the newest published version, or answers with the one that is open. Stopped sessions make room for it,
/// the oldest first; where there are none and the person has ``most``, it is refused.
///
/// Handled by QuestionnaireService, behind `POST /questionnaires/{key}/sessions`. The person is the request's actor.
@Message
public struct OpenSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.open-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .tooManySessions])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions", .user, "Opens a session, or answers with the open one.",
        mayCreate: true)
    /// Sessions that a person has of one questionnaire, at most.
    public static let most: Int64 = 16
    /// Where a session can be opened.
    public static let platforms = ["ios", "android", "web"]

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for the title and for the language that conditions may look at.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
    /// Where it is opened; conditions may look at that.
    ///
    /// One of ios, android and web: what conditions may look at. A session that is open already keeps its own.
    @Field(.values(platforms[0], platforms[1], platforms[2])) public var platform: String?
}

/// The person's sessions of a questionnaire, the newest first.
@Message
public struct ListQuestionnaireSessions: PublicRequest {
    public typealias Reply = QuestionnaireSessionList
    public static let type: MessageType = "questionnaire.list-sessions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}/sessions", .user, "The person's sessions.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
}

/// One session with everything that is answered in it.
@Message
public struct GetSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.get-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}/sessions/{id}", .user, "One session.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Closes a session that misses nothing and takes its snapshot; closed again, it is answered as the first time.
///
/// What is missing is listed in the refusal's `missing`: `[{question, subject, reason}]`.
@Message
public struct CompleteSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.complete-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .questionnaireIncomplete, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/complete", .user, "Completes the session.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Opens a completed session again: its snapshots stay, and completing it again makes it `amended`. A session that is open
/// stays so.
@Message
public struct ReopenSession: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.reopen-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionAlreadyOpen, .sessionStopped])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/reopen", .user, "Opens a completed session again.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Ends an open session for good without completing it; stopped again, it is answered as the first time.
///
/// It can be read, and counts for nothing any more. Whoever opens a session afterwards begins anew.
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

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// What stands for a question in messages about sessions.
enum SessionPlaces {
    /// `question`, or `question/subject`.
    static let one = JSONSchema.string(1...101)
    static let list = JSONSchema.array(of: one, count: 0...500)
}
