import JSONText

/// The operator's own system says whether it has done a task of a plan with a person.
@Message
public struct SetOperatorTask: PublicRequest {
    public typealias Reply = OperatorTaskSet
    public static let type: MessageType = "profile.set-operator-task"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .put, "/admin/users/{id}/tasks/{task}", .admin, "Says whether an operator's task is done.")

    /// The person.
    @Field(from: .path("id")) public var personId: Identifier
    /// The key of the task. A plan that the person follows must have it.
    @Field(.string(1...64), from: .path("task")) public var task: String
    /// Whether the task is done.
    public var done: Bool
}

/// The answer to ``SetOperatorTask``.
@Message
public struct OperatorTaskSet: PublicReply {
    /// The person.
    public var personId: Identifier
    /// The key of the task.
    @Field(.string(1...64)) public var task: String
    /// Whether the task is done.
    public var done: Bool
}
