import JSONText

/// Asks for the versions and drafts of the stimulus set. For its editor.
@Message
public struct ViewStimulusSets: PublicRequest {
    public typealias Reply = StimulusSetOverview
    public static let type: MessageType = "visual-preference.view-sets"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden])
    public static let route = HTTPRoute(
        .get, "/admin/visual-preferences/sets", .admin, "The stimulus set with its drafts and versions.")
}

/// The answer to ``ViewStimulusSets``.
@Message
public struct StimulusSetOverview: PublicReply {
    /// The published versions, the newest first. The first one is in use.
    @Field(count: 0...10_000) public var versions: [StimulusSetVersionSummary]
    /// The drafts, the newest first.
    @Field(count: 0...1000) public var drafts: [DraftSummary]
}

/// A published version of the stimulus set without its content.
@Message
public struct StimulusSetVersionSummary: MessageValue {
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the set, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// When the version was published.
    public var publishedAt: Timestamp
}

/// Asks for one version of the stimulus set.
@Message
public struct GetStimulusSet: PublicRequest {
    public typealias Reply = PublishedStimulusSet
    public static let type: MessageType = "visual-preference.get-set"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/visual-preferences/sets/{n}", .admin, "One version of the stimulus set.", isRevalidated: true)

    /// The number of the version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// A published version of the stimulus set. It never changes, so its hash is its entity tag.
@Message
public struct PublishedStimulusSet: PublicReply {
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the set's RFC 8785 form, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// When the version was published.
    public var publishedAt: Timestamp
    /// The set with its texts in every language.
    public var set: JSONValue

    public var entityTag: EntityTag? { EntityTag(rawValue: hash) }
}

/// A draft of the stimulus set with its content.
@Message
public struct StimulusSetDraft: PublicReply {
    /// The number of the draft.
    @Field(VersionMembers.number) public var number: Int64
    /// Increases with every change. The entity tag is made from it.
    @Field(.ordinal) public var revision: Int64
    /// The version that was published from the draft.
    @Field(VersionMembers.number) public var publishedAs: Int64?
    /// When the draft was last changed.
    public var updatedAt: Timestamp
    /// The set so far.
    public var set: JSONValue

    public var entityRevision: Int64? { revision }
}

/// The answer to ``PublishStimulusSetDraft``.
@Message
public struct StimulusSetPublished: PublicReply {
    /// The number of the new version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the set, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// The most severe class of its changes. It is missing if nothing changed.
    @Field(.changeClass) public var changeClass: String?
    /// The first 200 changes against the version before.
    @Field(count: 0...VersionPublished.mostChanges) public var changes: [VersionChange]
}
