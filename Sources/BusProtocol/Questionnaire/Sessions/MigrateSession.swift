import JSONText

/// Moves an open session to the newest version.
///
/// Answers follow the keys of their questions, and what the versions in between say about them. Nothing is deleted. A
/// repetition changes nothing.
@Message
public struct MigrateSession: PublicRequest {
    public typealias Reply = SessionMigrated
    public static let type: MessageType = "questionnaire.migrate-session"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .sessionNotOpen])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/migrations", .user, "Moves the session to the newest version.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// `true`: the reply says what would happen to the answers, and nothing is written. It is a text because it is in
    /// the query.
    @Field(.values("true", "false"), from: .query("dryRun")) public var dryRun: String?
    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for a session that was opened without them.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Undoes the last migration of a session, as long as nothing was written since.
@Message
public struct UndoMigration: PublicRequest {
    public typealias Reply = SessionView
    public static let type: MessageType = "questionnaire.undo-migration"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .migrationFinal])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/migrations/undo", .user,
        "Undoes the last migration, as long as nothing was written since.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for the title.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// What happened to a session's answers, or would happen. Places are `question` or `question/subject`.
@Message
public struct SessionMigrated: PublicReply {
    private static let places = JSONSchema.array(of: QuestionnaireSessionPlaces.one, count: 0...10_000)

    /// The version before.
    @Field(VersionMembers.number, example: 1) public var fromVersion: Int64
    /// The version after.
    @Field(VersionMembers.number) public var toVersion: Int64
    /// Answers that are also answers in the new version.
    @Field(places) public var kept: [String]
    /// Answers that are kept, but asked for again.
    @Field(places) public var stale: [String]
    /// Answers that are kept, but whose questions the new version does not ask. Named by their old keys.
    @Field(places) public var orphaned: [String]
    /// The keys of questions that only the new version asks.
    @Field(.questionKey, count: 0...500, example: "smoking") public var newQuestions: [String]
}

/// Moves some open sessions of a questionnaire to its newest version, each in its own transaction. For operators.
///
/// The next request continues from ``SessionsMigrated/next``. A moved session is not moved again, so an interrupted run
/// starts again from the beginning.
@Message
public struct MigrateSessions: BusRequest {
    public typealias Reply = SessionsMigrated
    public static let type: MessageType = "questionnaire.migrate-sessions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.operator], effect: .idempotent, errors: [.notFound])

    /// The key of the questionnaire.
    @Field(.string(1...64)) public var questionnaire: String
    /// The most sessions of this request.
    @Field(.integer(1...1000)) public var limit: Int64
    /// The `next` of the previous reply.
    @Field(.string(1...200)) public var after: String?
    /// Counts, and writes nothing.
    public var dryRun: Bool = false
}

/// The answer to ``MigrateSessions``.
@Message
public struct SessionsMigrated: BusReply {

    /// The newest version.
    @Field(VersionMembers.number) public var toVersion: Int64
    /// Sessions that were moved by this request, or would be.
    @Field(.count) public var sessions: Int64
    /// Answers that are also answers in the new version.
    @Field(.count) public var kept: Int64
    /// Answers that are kept, but asked for again.
    @Field(.count) public var stale: Int64
    /// Answers that are kept, but whose questions the new version does not ask.
    @Field(.count) public var orphaned: Int64
    /// Open sessions of older versions that come after these.
    @Field(.count) public var remaining: Int64
    /// Present if there are more sessions.
    @Field(.string(1...200)) public var next: String?
    /// Sessions among these that could not be moved. A run from the beginning tries them again.
    @Field(count: 0...1000) public var notMoved: [SessionNotMoved]?
}

/// A session that stays with its version for now.
@Message
public struct SessionNotMoved: MessageValue {
    /// The session.
    public var sessionID: Identifier
    /// `date_not_opened`: the key of a sealed answer is missing. Otherwise the code of the error, such as
    /// `service_unavailable` if profile did not answer.
    @Field(.string(1...64)) public var code: String
}
