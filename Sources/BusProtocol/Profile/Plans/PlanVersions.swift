import JSONText

/// Lists the plans, each in its newest version that is not retired. For their editors.
@Message
public struct ListPlans: PublicRequest {
    public typealias Reply = PlanList
    public static let type: MessageType = "profile.list-plans"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden])
    public static let route = HTTPRoute(
        .get, "/admin/plans", .admin, "The plans of onboarding.")
}

/// Asks for a plan's versions and drafts. For its editor.
@Message
public struct ViewPlan: PublicRequest {
    public typealias Reply = PlanOverview
    public static let type: MessageType = "profile.view-plan"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden])
    public static let route = HTTPRoute(
        .get, "/admin/plans/{key}", .admin, "A plan with its drafts and versions.")

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
}

/// Asks for one version of a plan, retired or not.
@Message
public struct GetPlanVersion: PublicRequest {
    public typealias Reply = PublishedPlan
    public static let type: MessageType = "profile.get-plan-version"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/plans/{key}/versions/{n}", .admin, "One version of a plan.", isRevalidated: true)

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The number of the version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// Retires a version. No new person follows it, and who follows it goes on.
///
/// The newest version before it is in use again. `definition_invalid` says that another plan has its app or entry by now,
/// or that the default plan would have no version left.
@Message
public struct RetirePlanVersion: PublicRequest {
    public typealias Reply = PlanVersionSummary
    public static let type: MessageType = "profile.retire-plan-version"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .definitionInvalid])
    public static let route = HTTPRoute(
        .post, "/admin/plans/{key}/versions/{n}/retire", .admin, "Retires a version of a plan.")

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The number of the version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// Asks for the differences between two versions of a plan.
@Message
public struct ComparePlanVersions: PublicRequest {
    public typealias Reply = VersionDifference
    public static let type: MessageType = "profile.compare-plan-versions"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed])
    public static let route = HTTPRoute(
        .get, "/admin/plans/{key}/diff", .admin, "The differences between two versions of a plan.")

    /// The key of the plan.
    @Field(.string(1...64), from: .path("key")) public var key: String
    /// The older version. It is required.
    @Field(VersionMembers.number, from: .query("from")) public var from: Int64?
    /// The newer version. It is required.
    @Field(VersionMembers.number, from: .query("to")) public var to: Int64?
}
