import JSONText

/// Opens a session of the newest published version, or answers with the one that is open. Stopped sessions make room for it,
/// the oldest first; where there are none and the person has ``most``, it is refused.
///
/// Handled by QuestionnaireService, behind `POST /questionnaires/{key}/sessions`. The person is the request's actor.
public struct OpenSession: BusRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.open-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .tooManySessions])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.acceptLanguage,
        .optional(
            "platform", .values(platforms[0], platforms[1], platforms[2]),
            "Where it is opened; conditions may look at that."),
    ])

    /// Sessions that a person has of one questionnaire, at most.
    public static let most: Int64 = 16
    /// Where a session can be opened.
    public static let platforms = ["ios", "android", "web"]

    /// Key of the questionnaire.
    public var questionnaire: String
    /// The header `Accept-Language`, for the title and for the language that conditions may look at.
    public var acceptLanguage: String?
    /// One of ``platforms``: what conditions may look at. A session that is open already keeps its own. Came later and is
    /// optional.
    public var platform: String?

    public init(questionnaire: String, acceptLanguage: String? = nil, platform: String? = nil) {
        (self.questionnaire, self.acceptLanguage, self.platform) = (questionnaire, acceptLanguage, platform)
    }
}

/// The person's sessions of a questionnaire, the newest first (`GET /questionnaires/{key}/sessions`).
public struct ListQuestionnaireSessions: BusRequest {
    public typealias Reply = QuestionnaireSessionList
    public static let type: MessageType = "questionnaire.list-sessions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let schema = JSONSchema.object([SessionMembers.questionnaire])

    /// Key of the questionnaire.
    public var questionnaire: String

    public init(questionnaire: String) { self.questionnaire = questionnaire }
}

/// One session with everything that is answered in it (`GET /questionnaires/{key}/sessions/{id}`).
public struct GetSession: BusRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.get-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.session, SessionMembers.acceptLanguage,
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// The header `Accept-Language`, for the title.
    public var acceptLanguage: String?

    public init(questionnaire: String, sessionId: Identifier, acceptLanguage: String? = nil) {
        (self.questionnaire, self.sessionId, self.acceptLanguage) = (questionnaire, sessionId, acceptLanguage)
    }
}

/// Closes a session that misses nothing and takes its snapshot; closed again, it is answered as the first time
/// (`POST /questionnaires/{key}/sessions/{id}/complete`).
///
/// What is missing is listed in the refusal's `missing`: `[{question, subject, reason}]`.
public struct CompleteSession: BusRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.complete-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .questionnaireIncomplete, .versionClosed, .sessionStopped])
    public static let schema = GetSession.schema

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// The header `Accept-Language`, for the title.
    public var acceptLanguage: String?

    public init(questionnaire: String, sessionId: Identifier, acceptLanguage: String? = nil) {
        (self.questionnaire, self.sessionId, self.acceptLanguage) = (questionnaire, sessionId, acceptLanguage)
    }
}

/// Opens a completed session again (`POST /questionnaires/{key}/sessions/{id}/reopen`): its snapshots stay, and completing
/// it again makes it `amended`. A session that is open stays so.
public struct ReopenSession: BusRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.reopen-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionAlreadyOpen, .sessionStopped])
    public static let schema = GetSession.schema

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// The header `Accept-Language`, for the title.
    public var acceptLanguage: String?

    public init(questionnaire: String, sessionId: Identifier, acceptLanguage: String? = nil) {
        (self.questionnaire, self.sessionId, self.acceptLanguage) = (questionnaire, sessionId, acceptLanguage)
    }
}

/// Ends an open session for good without completing it; stopped again, it is answered as the first time
/// (`POST /questionnaires/{key}/sessions/{id}/stop`).
///
/// It can be read, and counts for nothing any more. Whoever opens a session afterwards begins anew.
public struct StopSession: BusRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.stop-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionNotOpen])
    public static let schema = GetSession.schema

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// The header `Accept-Language`, for the title.
    public var acceptLanguage: String?

    public init(questionnaire: String, sessionId: Identifier, acceptLanguage: String? = nil) {
        (self.questionnaire, self.sessionId, self.acceptLanguage) = (questionnaire, sessionId, acceptLanguage)
    }
}

/// Members that the requests about sessions share.
enum SessionMembers {
    static let questionnaire = JSONSchema.Member.required("questionnaire", .string(1...64), "Key of the questionnaire.")
    static let session = JSONSchema.Member.required("sessionId", .uuid)
    static let acceptLanguage = JSONSchema.Member.optional(
        "acceptLanguage", .string(0...1000), "The languages that the person would rather read (RFC 9110).")
    /// `question`, or `question/subject`.
    static let place = JSONSchema.string(1...101)
    static let device = JSONSchema.Member.optional(
        "device", .string(1...1024),
        "What the person calls the device that writes, at most 64 characters as a person counts them; a conflict tells it."
    )
    static let preference = JSONSchema.Member.optional(
        "preference", AnswerPreference.schema,
        "What one wants of another person's answer, where the question asks for it.")
    static let force = JSONSchema.Member.optional(
        "force", .boolean,
        "True: written although the answer is not at `baseRevision` any more; what stood there is in the history.")
    static let places = JSONSchema.array(of: place, count: 0...500)
}
