import JSONText

/// Adds somebody whom a section that repeats is asked about, or names them anew. Who was removed comes back with their answers.
///
/// The label answers the question that the section names its subjects by, where it has one. More than the section's
/// maximum: `validation_failed` at `subject` (`too_many`).
@Message
public struct PutSubject: PublicRequest {
    public typealias Reply = SubjectsChanged
    public static let type: MessageType = "questionnaire.put-subject"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .validationFailed, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .put, "/questionnaires/{key}/sessions/{id}/subjects/{uuid}", .user, "Adds or names a repeating subject.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// Chosen by the client.
    @Field(from: .path("uuid")) public var subject: Identifier
    /// As the person calls them.
    @Field(.string(1...4096)) public var label: String?
    /// What the section calls them; wanted where several sections repeat.
    @Field(.string(1...64)) public var kind: String?
}

/// Removes a subject; the answers about them are kept and count for nothing.
@Message
public struct RemoveSubject: PublicRequest {
    public typealias Reply = SubjectsChanged
    public static let type: MessageType = "questionnaire.remove-subject"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .delete, "/questionnaires/{key}/sessions/{id}/subjects/{uuid}", .user, "Removes a repeating subject.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    @Field(from: .path("uuid")) public var subject: Identifier
}

/// The session after its subjects were changed.
@Message
public struct SubjectsChanged: PublicReply {
    /// In order.
    @Field(count: 0...500) public var subjects: [SubjectView]
    public var progress: QuestionnaireProgress
    /// Where to go on; null when nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
}
