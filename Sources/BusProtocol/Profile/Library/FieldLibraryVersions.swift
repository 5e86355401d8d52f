import JSONText

/// Asks for the versions and drafts of the library of fields. For its editor.
@Message
public struct ViewFieldLibrary: PublicRequest {
    public typealias Reply = FieldLibraryOverview
    public static let type: MessageType = "profile.view-field-library"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden])
    public static let route = HTTPRoute(
        .get, "/admin/fields", .admin, "The library of fields with its drafts and versions.")
}

/// The answer to ``ViewFieldLibrary``.
@Message
public struct FieldLibraryOverview: PublicReply {
    /// The published versions, the newest first. The first one is in use.
    @Field(count: 0...10_000) public var versions: [FieldLibraryVersionSummary]
    /// The drafts, the newest first.
    @Field(count: 0...1000) public var drafts: [DraftSummary]
}

/// A published version of the library of fields without its content.
@Message
public struct FieldLibraryVersionSummary: MessageValue {
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the library, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// When the version was published.
    public var publishedAt: Timestamp
}

/// Asks for one version of the library of fields.
@Message
public struct GetFieldLibraryVersion: PublicRequest {
    public typealias Reply = PublishedFieldLibrary
    public static let type: MessageType = "profile.get-field-library-version"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/fields/versions/{n}", .admin, "One version of the library of fields.", isRevalidated: true)

    /// The number of the version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// A published version of the library of fields. It never changes, so its hash is its entity tag.
@Message
public struct PublishedFieldLibrary: PublicReply {
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the library's RFC 8785 form, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// When the version was published.
    public var publishedAt: Timestamp
    /// The library with its labels in every language.
    public var library: JSONValue

    public var entityTag: EntityTag? { EntityTag(rawValue: hash) }
}

/// A draft of the library of fields with its content.
@Message
public struct FieldLibraryDraft: PublicReply {
    /// The number of the draft.
    @Field(VersionMembers.number) public var number: Int64
    /// Increases with every change. The entity tag is made from it.
    @Field(.ordinal) public var revision: Int64
    /// The version that was published from the draft.
    @Field(VersionMembers.number) public var publishedAs: Int64?
    /// When the draft was last changed.
    public var updatedAt: Timestamp
    /// The library so far.
    public var library: JSONValue

    public var entityRevision: Int64? { revision }
}

/// The answer to ``PublishFieldLibraryDraft``.
@Message
public struct FieldLibraryPublished: PublicReply {
    /// The number of the new version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the library, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// The most severe class of its changes. It is missing if nothing changed.
    @Field(.changeClass) public var changeClass: String?
    /// The first 200 changes against the version before.
    @Field(count: 0...VersionPublished.mostChanges) public var changes: [VersionChange]
}
