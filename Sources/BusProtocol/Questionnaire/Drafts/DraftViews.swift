import JSONText

/// The answer to ``ViewQuestionnaire``.
@Message
public struct QuestionnaireOverview: PublicReply {
    /// The key of the questionnaire.
    @Field(.string(1...64), example: "yoked-compat") public var key: String
    /// The published versions, the newest first.
    @Field(count: 0...10_000) public var versions: [VersionSummary]
    /// The drafts, the newest first.
    @Field(count: 0...1000) public var drafts: [DraftSummary]
}

/// A published version without its content.
@Message
public struct VersionSummary: PublicReply {
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the definition, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// `published` or `retired`.
    @Field(.versionStatus) public var status: String
    /// New sessions use this version.
    public var current: Bool
    /// When the version was published.
    public var publishedAt: Timestamp
    /// When the version was retired.
    public var retiredAt: Timestamp?
    /// Open sessions of this version.
    @Field(.count) public var openSessions: Int64
    /// Completed sessions of this version.
    @Field(.count, example: 840) public var completedSessions: Int64

    /// Takes the members. The status follows from `retiredAt`.
    public init(
        version: Int64, hash: String, current: Bool, publishedAt: Timestamp, retiredAt: Timestamp? = nil,
        openSessions: Int64, completedSessions: Int64
    ) {
        self.version = version
        self.hash = hash
        status = retiredAt == nil ? "published" : "retired"
        self.current = current
        self.publishedAt = publishedAt
        self.retiredAt = retiredAt
        self.openSessions = openSessions
        self.completedSessions = completedSessions
    }
}

/// A draft without its content.
@Message
public struct DraftSummary: MessageValue {
    /// The number of the draft.
    @Field(VersionMembers.number) public var number: Int64
    /// Increases with every change.
    @Field(.ordinal) public var revision: Int64
    /// The version that the draft was copied from.
    @Field(VersionMembers.number, example: 1) public var from: Int64?
    /// The version that was published from the draft.
    @Field(VersionMembers.number) public var publishedAs: Int64?
    /// When the draft was last changed.
    public var updatedAt: Timestamp
}

/// A draft with its content.
@Message
public struct Draft: PublicReply {
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
    /// The definition so far.
    public var definition: JSONValue

    public var entityRevision: Int64? { revision }
}

/// The result of checking a draft.
@Message
public struct DraftReport: PublicReply {
    /// Whether there is no error. A warning does not prevent publishing.
    public var publishable: Bool
    /// The errors and warnings.
    @Field(count: 0...10_000) public var findings: [DraftFinding]
    /// The fewest questions that a person may be asked, if known.
    @Field(.integer(0...500), example: 18) public var shortestPath: Int64?
    /// The most questions that a person may be asked, if known.
    @Field(.integer(0...500), example: 25) public var longestPath: Int64?

    /// Takes the findings. The draft is publishable if none of them is an error.
    public init(findings: [DraftFinding], shortestPath: Int64? = nil, longestPath: Int64? = nil) {
        publishable = !findings.contains { $0.severity == "error" }
        self.findings = findings
        (self.shortestPath, self.longestPath) = (shortestPath, longestPath)
    }
}

/// One error or warning about a draft.
@Message
public struct DraftFinding: MessageValue {
    /// `error` or `warning`.
    @Field(.severity) public var severity: String
    /// The rule: of a questionnaire `E01` and higher or `W1` and higher, of a plan a word such as `duplicate_app`, of both
    /// `malformed`.
    @Field(.string(1...32), example: "E01") public var code: String
    /// The place in the document, as a JSON Pointer (RFC 6901).
    @Field(.string(0...4096)) public var pointer: String
    /// One sentence for the author.
    @Field(.string(1...4096)) public var message: String
    /// The parts and strings involved.
    @Field(.string(1...4096), count: 0...1000) public var keys: [String]
}

/// The answer to ``PublishDraft``.
@Message
public struct VersionPublished: PublicReply {
    /// The most changes that the reply lists.
    public static let mostChanges = 200

    /// The number of the new version.
    @Field(VersionMembers.number) public var version: Int64
    /// SHA-256 of the definition, in hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// The most severe class of its changes. It is missing for a first version and if nothing changed.
    @Field(.changeClass) public var changeClass: String?
    /// Open sessions that stay with older versions.
    @Field(.count) public var openSessions: Int64
    /// Answers in those sessions to questions that the changes affect.
    @Field(.count, example: 20480) public var answers: Int64
    /// The first 200 changes against the version before.
    @Field(count: 0...mostChanges) public var changes: [VersionChange]?
}

/// The answer to ``CompareVersions``.
@Message
public struct VersionDifference: PublicReply {
    /// The older version.
    @Field(VersionMembers.number, example: 1) public var from: Int64
    /// The newer version.
    @Field(VersionMembers.number, example: 2) public var to: Int64
    /// The most severe class of the changes, if there are any.
    @Field(.changeClass) public var changeClass: String?
    /// The changes in order.
    @Field(count: 0...10_000) public var changes: [VersionChange]

    /// Takes both versions and what changed between them.
    public init(from: Int64, to: Int64, changeClass: String?, changes: [VersionChange]) {
        self.from = from
        self.to = to
        self.changeClass = changeClass
        self.changes = changes
    }
}

/// One difference between two versions.
@Message
public struct VersionChange: MessageValue {
    /// The kind of change, such as `option_added`.
    @Field(.string(1...64)) public var kind: String
    /// `editorial`, `additive`, `rescore`, `reask` or `breaking`.
    @Field(.changeClass) public var changeClass: String
    /// A JSON Pointer into the newer version. For something removed, it points into the older version.
    @Field(.string(0...4096)) public var pointer: String
    /// The parts and strings involved.
    @Field(.string(1...4096), count: 0...1000) public var keys: [String]
}
