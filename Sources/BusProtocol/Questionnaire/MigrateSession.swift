import JSONText

/// Moves an open session to the newest version, by the keys of questions and what the versions in between say of them
/// (`POST /questionnaires/{key}/sessions/{id}/migrations`). Nothing is deleted; moved again, nothing changes.
public struct MigrateSession: BusRequest {
    public typealias Reply = SessionMigrated
    public static let type: MessageType = "questionnaire.migrate-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionNotOpen])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.session,
        .optional("dryRun", .values("true", "false"), "Tell what would become of the answers, and write nothing."),
        SessionMembers.acceptLanguage,
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// `true`: tell what would become of the answers, and write nothing. A text, as it stands in the query.
    public var dryRun: String?
    /// The header `Accept-Language`, for a session that was not told it when it was opened. Came later and is optional.
    public var acceptLanguage: String?

    public init(
        questionnaire: String, sessionId: Identifier, dryRun: String? = nil, acceptLanguage: String? = nil
    ) {
        (self.questionnaire, self.sessionId, self.dryRun) = (questionnaire, sessionId, dryRun)
        self.acceptLanguage = acceptLanguage
    }
}

/// Takes the last migration of a session back, until something is written in it
/// (`POST /questionnaires/{key}/sessions/{id}/migrations/undo`).
public struct UndoMigration: BusRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.undo-migration"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .migrationFinal])
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

/// What became of a session's answers, or would. Places are `question`, or `question/subject`.
public struct SessionMigrated: PublicReply {
    public static let schema = JSONSchema.object([
        .required("fromVersion", VersionMembers.number), .required("toVersion", VersionMembers.number),
        .required("kept", places, "Answers in the new version, too."),
        .required("stale", places, "Kept, and asked for again."),
        .required("orphaned", places, "Kept; the new version does not ask for them. By their old keys."),
        .required("newQuestions", .array(of: .string(1...64), count: 0...500)),
    ])

    private static let places = JSONSchema.array(of: SessionMembers.place, count: 0...10_000)

    public var fromVersion: Int64
    public var toVersion: Int64
    /// Answers in the new version, too.
    public var kept: [String]
    /// Kept, and asked for again.
    public var stale: [String]
    /// Kept; the new version does not ask for them. By their old keys.
    public var orphaned: [String]
    public var newQuestions: [String]

    public init(
        fromVersion: Int64, toVersion: Int64, kept: [String], stale: [String], orphaned: [String],
        newQuestions: [String]
    ) {
        (self.fromVersion, self.toVersion) = (fromVersion, toVersion)
        (self.kept, self.stale, self.orphaned, self.newQuestions) = (kept, stale, orphaned, newQuestions)
    }
}

/// Moves some of the open sessions of a questionnaire to its newest version, each in a transaction of its own; asked again
/// with ``SessionsMigrated/next``, the ones after them. What was moved is not moved again, so who was interrupted begins
/// anew. For operators.
public struct MigrateSessions: BusRequest {
    public typealias Reply = SessionsMigrated
    public static let type: MessageType = "questionnaire.migrate-sessions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.operator], effect: .idempotent, errors: [.notFound])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire,
        .required("limit", .integer(1...1000), "Sessions at most."),
        .optional("after", .string(1...200), "The `next` of the answer before."),
        .required("dryRun", .boolean, "Count, and write nothing."),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    /// Sessions at most.
    public var limit: Int64
    /// The ``SessionsMigrated/next`` of the answer before.
    public var after: String?
    /// Count, and write nothing.
    public var dryRun: Bool

    public init(questionnaire: String, limit: Int64, after: String? = nil, dryRun: Bool = false) {
        self.questionnaire = questionnaire
        self.limit = limit
        self.after = after
        self.dryRun = dryRun
    }
}

/// The answer to ``MigrateSessions``.
public struct SessionsMigrated: BusReply {
    public static let schema = JSONSchema.object([
        .required("toVersion", VersionMembers.number),
        .required("sessions", count, "Moved now."), .required("kept", count), .required("stale", count),
        .required("orphaned", count),
        .required("remaining", count, "Open sessions of older versions behind these."),
        .optional("next", .string(1...200), "Where there are more."),
    ])

    private static let count = JSONSchema.integer(0...9_007_199_254_740_991)

    public var toVersion: Int64
    /// Moved now, or what would be.
    public var sessions: Int64
    /// Answers.
    public var kept: Int64
    public var stale: Int64
    public var orphaned: Int64
    /// Open sessions of older versions behind these.
    public var remaining: Int64
    /// Where there are more.
    public var next: String?

    public init(
        toVersion: Int64, sessions: Int64, kept: Int64, stale: Int64, orphaned: Int64, remaining: Int64,
        next: String? = nil
    ) {
        self.toVersion = toVersion
        self.sessions = sessions
        (self.kept, self.stale, self.orphaned) = (kept, stale, orphaned)
        self.remaining = remaining
        self.next = next
    }
}
