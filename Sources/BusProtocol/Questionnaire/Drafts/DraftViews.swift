import JSONText

/// The answer to ``ViewQuestionnaire``.
@Message
public struct QuestionnaireOverview: PublicReply {
    @Field(.string(1...64)) public var key: String
    /// The newest first.
    @Field(count: 0...10_000) public var versions: [VersionSummary]
    /// The newest first.
    @Field(count: 0...1000) public var drafts: [DraftSummary]
}

/// A published version without its content.
@Message
public struct VersionSummary: PublicReply {
    @Field(VersionMembers.number) public var version: Int64
    /// 64 hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// `published` or `retired`.
    @Field(.string(1...32)) public var status: String
    /// Whoever begins now begins with it.
    public var current: Bool
    public var publishedAt: Timestamp
    public var retiredAt: Timestamp?
    @Field(.count) public var openSessions: Int64
    @Field(.count) public var completedSessions: Int64

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
    @Field(VersionMembers.number) public var number: Int64
    /// Goes up with every change.
    @Field(.ordinal) public var revision: Int64
    /// The version that it began as a copy of.
    @Field(VersionMembers.number) public var from: Int64?
    /// The version that it became.
    @Field(VersionMembers.number) public var publishedAs: Int64?
    public var updatedAt: Timestamp
}

/// A draft with its content.
@Message
public struct Draft: PublicReply {
    @Field(VersionMembers.number) public var number: Int64
    /// Goes up with every change; the entity tag is made from it.
    @Field(.ordinal) public var revision: Int64
    /// The version that it began as a copy of.
    @Field(VersionMembers.number) public var from: Int64?
    /// The version that it became.
    @Field(VersionMembers.number) public var publishedAs: Int64?
    public var updatedAt: Timestamp
    /// As it stands so far.
    public var definition: JSONValue

    public var entityRevision: Int64? { revision }
}

/// What the gate says of a draft.
@Message
public struct DraftReport: PublicReply {
    /// There is no error; a warning keeps nothing back.
    public var publishable: Bool
    @Field(count: 0...10_000) public var findings: [DraftFinding]
    /// How many questions the shortest way shows, where that is known.
    @Field(.integer(0...500)) public var shortestPath: Int64?
    /// How many questions the longest way shows, where that is known.
    @Field(.integer(0...500)) public var longestPath: Int64?

    public init(findings: [DraftFinding], shortestPath: Int64? = nil, longestPath: Int64? = nil) {
        publishable = !findings.contains { $0.severity == "error" }
        self.findings = findings
        (self.shortestPath, self.longestPath) = (shortestPath, longestPath)
    }
}

/// One thing that the gate says of a draft.
@Message
public struct DraftFinding: MessageValue {
    /// `error` or `warning`.
    @Field(.string(1...32)) public var severity: String
    /// `E01` and on, `W1` and on, `malformed` or `unsupported`.
    @Field(.string(1...32)) public var code: String
    /// JSON Pointer (RFC 6901) into the definition.
    @Field(.string(0...4096)) public var pointer: String
    @Field(.string(1...4096)) public var message: String
    /// Questions, options and strings involved.
    @Field(.string(1...4096), count: 0...1000) public var keys: [String]
}

/// The answer to ``PublishDraft``.
@Message
public struct VersionPublished: PublicReply {
    /// How many changes are told.
    public static let mostChanges = 200

    @Field(VersionMembers.number) public var version: Int64
    /// 64 hexadecimal digits.
    @Field(VersionMembers.hash) public var hash: String
    /// The gravest of its changes; of a first version, and where nothing changed, there is none.
    @Field(.string(1...32)) public var changeClass: String?
    /// That stay with older versions.
    @Field(.count) public var openSessions: Int64
    /// In those, to questions that the change touches.
    @Field(.count) public var answers: Int64
    /// The first 200 of them.
    ///
    /// The first 200 of them, against the version before.
    @Field(count: 0...mostChanges) public var changes: [VersionChange]?
}

/// The answer to ``CompareVersions``.
@Message
public struct VersionDifference: PublicReply {
    @Field(VersionMembers.number) public var from: Int64
    @Field(VersionMembers.number) public var to: Int64
    /// The gravest of the changes, where there is one.
    @Field(.string(1...32)) public var changeClass: String?
    @Field(count: 0...10_000) public var changes: [VersionChange]

    public init(from: Int64, to: Int64, changeClass: String?, changes: [VersionChange]) {
        self.from = from
        self.to = to
        self.changeClass = changeClass
        self.changes = changes
    }
}

/// One thing in which a version differs from another.
@Message
public struct VersionChange: MessageValue {
    /// `option_added`, say.
    @Field(.string(1...64)) public var kind: String
    /// `editorial`, `additive`, `rescore`, `reask` or `breaking`.
    @Field(.string(1...32)) public var changeClass: String
    /// JSON Pointer into the newer version; of what is gone, into the older.
    @Field(.string(0...4096)) public var pointer: String
    /// What it is about.
    @Field(.string(1...4096), count: 0...1000) public var keys: [String]
}
