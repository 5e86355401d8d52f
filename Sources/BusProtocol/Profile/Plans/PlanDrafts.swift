import JSONText

/// Creates a draft of a plan, from its content or as a copy of a version.
///
/// To go back to an older version, publish a copy of it.
@Message
public struct CreatePlanDraft: PublicRequest {
    public typealias Reply = PlanDraft
    public static let type: MessageType = "profile.create-plan-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed], largestBody: 524_288,
        limits: JSONLimits(depth: 32, values: 65_536))
    public static let route = HTTPRoute(
        .post, "/admin/plans/{key}/drafts", .admin, "Creates a draft of a plan.", success: 201, bodyLimit: 524_288)

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The plan so far. It may have errors.
    @Field(inExamples: false) public var plan: JSONValue?
    /// The version to copy, instead of a plan.
    @Field(VersionMembers.number, example: 1) public var from: Int64?
}

/// Asks for a draft of a plan with its content.
@Message
public struct GetPlanDraft: PublicRequest {
    public typealias Reply = PlanDraft
    public static let type: MessageType = "profile.get-plan-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/plans/{key}/drafts/{n}", .admin, "A draft of a plan with its content.")

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Replaces the content of a draft that is not yet published.
@Message
public struct PutPlanDraft: PublicRequest {
    public typealias Reply = PlanDraft
    public static let type: MessageType = "profile.put-plan-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed, .preconditionFailed, .draftPublished],
        largestBody: 524_288,
        limits: JSONLimits(depth: 32, values: 65_536))
    public static let route = HTTPRoute(
        .put, "/admin/plans/{key}/drafts/{n}", .admin, "Replaces a draft of a plan.", bodyLimit: 524_288)

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// The plan so far. It may have errors.
    @Field(example: ["key": "yoked", "version": 2]) public var plan: JSONValue
    /// The entity tag of the draft that the client changed.
    @Field(.string(1...64), from: .header("if-match")) public var ifMatch: String?
}

/// Deletes a draft that was not published. No other draft gets its number.
@Message
public struct DeletePlanDraft: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "profile.delete-plan-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .draftPublished])
    public static let route = HTTPRoute(
        .delete, "/admin/plans/{key}/drafts/{n}", .admin, "Deletes a draft of a plan.")

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Lists every error that prevents publishing a draft of a plan.
@Message
public struct CheckPlanDraft: PublicRequest {
    public typealias Reply = DraftReport
    public static let type: MessageType = "profile.check-plan-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/plans/{key}/drafts/{n}/check", .admin, "Lists every problem of a draft of a plan.")

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Publishes a draft as the next version of a plan. A version never changes. People go on with theirs.
///
/// The editor must accept what the change asks of people. `change_not_accepted` names the class, each change, and how
/// many people follow older versions. `definition_invalid` names each problem as ``CheckPlanDraft`` does.
@Message
public struct PublishPlanDraft: PublicRequest {
    public typealias Reply = PlanPublished
    public static let type: MessageType = "profile.publish-plan-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .definitionInvalid, .changeNotAccepted, .draftPublished])
    public static let route = HTTPRoute(
        .post, "/admin/plans/{key}/drafts/{n}/publish", .admin, "Publishes a draft of a plan.")

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// The most severe class of change that the editor accepts. It may be missing for a first version.
    @Field(.changeClass.closed) public var acceptClass: String?
}
