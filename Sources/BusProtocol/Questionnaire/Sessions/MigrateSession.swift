import JSONText

/// Moves an open session to the newest version, by the keys of questions and what the versions in between say of them. Nothing is deleted; moved again, nothing changes.
@Message
public struct MigrateSession: PublicRequest {
    public typealias Reply = SessionMigrated
    public static let type: MessageType = "questionnaire.migrate-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionNotOpen])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/migrations", .user, "Moves the session to the newest version.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// `true`: tell what would become of the answers, and write nothing. A text, as it stands in the query.
    @Field(.values("true", "false"), from: .query("dryRun")) public var dryRun: String?
    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for a session that was not told it when it was opened.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Takes the last migration of a session back, until something is written in it.
@Message
public struct UndoMigration: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.undo-migration"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .migrationFinal])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/migrations/undo", .user,
        "Takes the last migration back, until something is written.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// What became of a session's answers, or would. Places are `question`, or `question/subject`.
@Message
public struct SessionMigrated: PublicReply {
    private static let places = JSONSchema.array(of: SessionPlaces.one, count: 0...10_000)

    @Field(VersionMembers.number) public var fromVersion: Int64
    @Field(VersionMembers.number) public var toVersion: Int64
    /// Answers in the new version, too.
    @Field(places) public var kept: [String]
    /// Kept, and asked for again.
    @Field(places) public var stale: [String]
    /// Kept; the new version does not ask for them. By their old keys.
    @Field(places) public var orphaned: [String]
    @Field(.string(1...64), count: 0...500) public var newQuestions: [String]
}

/// Moves some of the open sessions of a questionnaire to its newest version, each in a transaction of its own; asked again
/// with ``SessionsMigrated/next``, the ones after them. What was moved is not moved again, so who was interrupted begins
/// anew. For operators.
@Message
public struct MigrateSessions: BusRequest {
    public typealias Reply = SessionsMigrated
    public static let type: MessageType = "questionnaire.migrate-sessions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.operator], effect: .idempotent, errors: [.notFound])

    /// Key of the questionnaire.
    @Field(.string(1...64)) public var questionnaire: String
    /// Sessions at most.
    @Field(.integer(1...1000)) public var limit: Int64
    /// The `next` of the answer before.
    @Field(.string(1...200)) public var after: String?
    /// Count, and write nothing.
    public var dryRun: Bool = false
}

/// The answer to ``MigrateSessions``.
@Message
public struct SessionsMigrated: BusReply {

    @Field(VersionMembers.number) public var toVersion: Int64
    /// Moved now, or what would be.
    @Field(.count) public var sessions: Int64
    /// Answers.
    @Field(.count) public var kept: Int64
    @Field(.count) public var stale: Int64
    @Field(.count) public var orphaned: Int64
    /// Open sessions of older versions behind these.
    @Field(.count) public var remaining: Int64
    /// Where there are more.
    @Field(.string(1...200)) public var next: String?
}
