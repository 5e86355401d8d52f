import JSONText

/// The answer to ``ListPlans``.
@Message
public struct PlanList: PublicReply {
    /// The plans, by key.
    @Field(count: 0...1000) public var plans: [PlanSummary]
}

/// A plan in its newest version that is not retired.
@Message
public struct PlanSummary: MessageValue {
    /// The key of the plan.
    @Field(.string(1...64)) public var key: String
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// When the version was published.
    public var publishedAt: Timestamp
    /// The keys of the apps that the plan is for.
    @Field(.string(1...64), count: 0...100, example: "realsingles") public var apps: [String]
}

/// The answer to ``ViewPlan``.
@Message
public struct PlanOverview: PublicReply {
    /// The key of the plan.
    @Field(.string(1...64)) public var key: String
    /// The published versions, the newest first.
    @Field(count: 0...10_000) public var versions: [PlanVersionSummary]
    /// The drafts, the newest first.
    @Field(count: 0...1000) public var drafts: [DraftSummary]
}

/// A published version of a plan without its content.
@Message
public struct PlanVersionSummary: PublicReply {
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the plan, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// New people follow this version.
    public var current: Bool
    /// When the version was published.
    public var publishedAt: Timestamp
    /// When the version was retired.
    public var retiredAt: Timestamp?
    /// How many people follow it, each counted once for each app.
    @Field(.count) public var people: Int64
}

/// A draft of a plan with its content.
@Message
public struct PlanDraft: PublicReply {
    /// The number of the draft.
    @Field(VersionMembers.number) public var number: Int64
    /// Increases with every change. The entity tag is made from it.
    @Field(.ordinal) public var revision: Int64
    /// The version that the draft was copied from.
    @Field(VersionMembers.number, example: 1) public var from: Int64?
    /// The version that was published from the draft.
    @Field(VersionMembers.number) public var publishedAs: Int64?
    /// When the draft was last changed.
    public var updatedAt: Timestamp
    /// The plan so far.
    @Field(example: ["key": "yoked", "version": 2]) public var plan: JSONValue

    public var entityRevision: Int64? { revision }
}

/// The answer to ``PublishPlanDraft``.
@Message
public struct PlanPublished: PublicReply {
    /// The number of the new version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the plan, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// The most severe class of its changes. It is missing for a first version and if nothing changed.
    @Field(.changeClass) public var changeClass: String?
    /// How many people go on with older versions, each counted once for each app.
    @Field(.count) public var people: Int64
    /// The first 200 changes against the version before.
    @Field(count: 0...VersionPublished.mostChanges) public var changes: [VersionChange]
}

/// A published version of a plan. It never changes, so its hash is its entity tag.
@Message
public struct PublishedPlan: PublicReply {
    /// The key of the plan.
    @Field(.string(1...64)) public var key: String
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the plan's RFC 8785 form, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// When the version was published.
    public var publishedAt: Timestamp
    /// The plan with its texts in every language.
    public var plan: JSONValue

    public var entityTag: EntityTag? { EntityTag(rawValue: hash) }
}
