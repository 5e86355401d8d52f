import JSONText

/// Adds a subject to a section that repeats, or renames it. A subject that was removed returns with its answers. A screen with
/// `adds` asks for a new subject: make a UUID for it, and send what the person wrote on the screen as `label`.
///
/// More subjects than the section's maximum fail with `validation_failed` at `subject` (`too_many`).
@Message
public struct PutSubject: PublicRequest {
    public typealias Reply = SubjectsChanged
    public static let type: MessageType = "questionnaire.put-subject"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .validationFailed, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .put, "/questionnaires/{key}/sessions/{id}/subjects/{uuid}", .user,
        "Adds or renames a subject of a section that repeats.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The subject's ID, chosen by the client.
    @Field(from: .path("uuid")) public var subject: Identifier
    /// The person's name for the subject. If the section names its subjects by a question, this is the answer to it.
    @Field(.string(1...4096), example: "Maja") public var label: String?
    /// The section's name for its subjects. It is required if several sections repeat.
    @Field(.string(1...64)) public var kind: String?
}

/// Removes a subject. The answers about it are kept and no longer count.
@Message
public struct RemoveSubject: PublicRequest {
    public typealias Reply = SubjectsChanged
    public static let type: MessageType = "questionnaire.remove-subject"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .delete, "/questionnaires/{key}/sessions/{id}/subjects/{uuid}", .user,
        "Removes a subject of a section that repeats.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The subject.
    @Field(from: .path("uuid")) public var subject: Identifier
}

/// The session after its subjects changed.
@Message
public struct SubjectsChanged: PublicReply {
    /// The subjects in order.
    @Field(count: 0...500) public var subjects: [SubjectView]
    /// How much of the questionnaire is answered.
    public var progress: QuestionnaireProgress
    /// Where to continue; `null` if nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// The screens behind the last question that are not acknowledged yet. Missing while something is left to answer.
    @Field(QuestionnaireSessionPlaces.list) public var closing: [String]?
}
