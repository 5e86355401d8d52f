import JSONText

/// Adds somebody whom a section that repeats is asked about, or names them anew
/// (`PUT /questionnaires/{key}/sessions/{id}/subjects/{uuid}`). Who was removed comes back with their answers.
///
/// The label answers the question that the section names its subjects by, where it has one. More than the section's
/// maximum: `validation_failed` at `subject` (`too_many`).
public struct PutSubject: BusRequest {
    public typealias Reply = SubjectsChanged
    public static let type: MessageType = "questionnaire.put-subject"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .validationFailed, .versionClosed, .sessionStopped])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.session,
        .required("subject", .uuid, "Chosen by the client."),
        .optional("label", .string(1...4096), "As the person calls them."),
        .optional("kind", .string(1...64), "What the section calls them; wanted where several sections repeat."),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    /// Chosen by the client.
    public var subject: Identifier
    /// As the person calls them.
    public var label: String?
    /// What the section calls them; wanted where several sections repeat.
    public var kind: String?

    public init(
        questionnaire: String, sessionId: Identifier, subject: Identifier, label: String? = nil, kind: String? = nil
    ) {
        self.questionnaire = questionnaire
        self.sessionId = sessionId
        self.subject = subject
        self.label = label
        self.kind = kind
    }
}

/// Removes a subject (`DELETE /questionnaires/{key}/sessions/{id}/subjects/{uuid}`); the answers about them are kept and
/// count for nothing.
public struct RemoveSubject: BusRequest {
    public typealias Reply = SubjectsChanged
    public static let type: MessageType = "questionnaire.remove-subject"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .versionClosed, .sessionStopped])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.session, .required("subject", .uuid),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    public var subject: Identifier

    public init(questionnaire: String, sessionId: Identifier, subject: Identifier) {
        (self.questionnaire, self.sessionId, self.subject) = (questionnaire, sessionId, subject)
    }
}

/// The session after its subjects were changed.
public struct SubjectsChanged: PublicReply {
    public static let schema = JSONSchema.object([
        .required("subjects", .array(of: SubjectView.schema, count: 0...500), "In order."),
        .required("progress", QuestionnaireProgress.schema),
        .required("next", .nullable(NextQuestion.schema), "Where to go on; null when nothing is left."),
    ])

    /// In order.
    public var subjects: [SubjectView]
    public var progress: QuestionnaireProgress
    /// `nil` when nothing is left.
    public var next: NextQuestion?

    public init(subjects: [SubjectView], progress: QuestionnaireProgress, next: NextQuestion?) {
        (self.subjects, self.progress, self.next) = (subjects, progress, next)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(subjects, forKey: .subjects)
        try container.encode(progress, forKey: .progress)
        // Written as null, too: a client tells "finished" from "left out".
        try container.encode(next, forKey: .next)
    }
}
