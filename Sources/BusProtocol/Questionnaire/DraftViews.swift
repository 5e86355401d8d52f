import JSONText

/// The answer to ``ViewQuestionnaire``.
public struct QuestionnaireOverview: PublicReply {
    public static let schema = JSONSchema.object([
        .required("key", .string(1...64)),
        .required("versions", .array(of: VersionSummary.schema, count: 0...10_000), "The newest first."),
        .required("drafts", .array(of: DraftSummary.schema, count: 0...1000), "The newest first."),
    ])

    public var key: String
    /// The newest first.
    public var versions: [VersionSummary]
    /// The newest first.
    public var drafts: [DraftSummary]

    public init(key: String, versions: [VersionSummary], drafts: [DraftSummary]) {
        (self.key, self.versions, self.drafts) = (key, versions, drafts)
    }
}

/// A published version without its content.
public struct VersionSummary: PublicReply {
    public static let schema = JSONSchema.object([
        .required("version", VersionMembers.number),
        .required("hash", VersionMembers.hash),
        .required("status", .string(1...32), "`published` or `retired`."),
        .required("current", .boolean, "Whoever begins now begins with it."),
        .required("publishedAt", .dateTime),
        .optional("retiredAt", .dateTime),
        .required("openSessions", .integer(0...9_007_199_254_740_991)),
        .required("completedSessions", .integer(0...9_007_199_254_740_991)),
    ])

    public var version: Int64
    /// 64 hexadecimal digits.
    public var hash: String
    /// `published` or `retired`.
    public var status: String
    /// Whoever begins now begins with it.
    public var current: Bool
    public var publishedAt: Timestamp
    public var retiredAt: Timestamp?
    public var openSessions: Int64
    public var completedSessions: Int64

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
public struct DraftSummary: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("number", VersionMembers.number),
        .required("revision", .integer(1...9_007_199_254_740_991)),
        .optional("from", VersionMembers.number, "The version that it began as a copy of."),
        .optional("publishedAs", VersionMembers.number, "The version that it became."),
        .required("updatedAt", .dateTime),
    ])

    public var number: Int64
    /// Goes up with every change.
    public var revision: Int64
    /// The version that it began as a copy of.
    public var from: Int64?
    /// The version that it became.
    public var publishedAs: Int64?
    public var updatedAt: Timestamp

    public init(number: Int64, revision: Int64, from: Int64?, publishedAs: Int64?, updatedAt: Timestamp) {
        self.number = number
        self.revision = revision
        self.from = from
        self.publishedAs = publishedAs
        self.updatedAt = updatedAt
    }
}

/// A draft with its content.
public struct Draft: PublicReply {
    public static let schema = JSONSchema.object([
        .required("number", VersionMembers.number),
        .required("revision", .integer(1...9_007_199_254_740_991), "Goes up with every change."),
        .optional("from", VersionMembers.number, "The version that it began as a copy of."),
        .optional("publishedAs", VersionMembers.number, "The version that it became."),
        .required("updatedAt", .dateTime),
        .required("definition", .any, "As it stands so far."),
    ])

    public var number: Int64
    /// Goes up with every change; the entity tag is made from it.
    public var revision: Int64
    /// The version that it began as a copy of.
    public var from: Int64?
    /// The version that it became.
    public var publishedAs: Int64?
    public var updatedAt: Timestamp
    /// As it stands so far.
    public var definition: JSONValue

    public var entityRevision: Int64? { revision }

    public init(
        number: Int64, revision: Int64, from: Int64? = nil, publishedAs: Int64? = nil, updatedAt: Timestamp,
        definition: JSONValue
    ) {
        self.number = number
        self.revision = revision
        self.from = from
        self.publishedAs = publishedAs
        self.updatedAt = updatedAt
        self.definition = definition
    }
}

/// What the gate says of a draft.
public struct DraftReport: PublicReply {
    public static let schema = JSONSchema.object([
        .required("publishable", .boolean, "There is no error; a warning keeps nothing back."),
        .required("findings", .array(of: DraftFinding.schema, count: 0...10_000)),
        .optional("shortestPath", .integer(0...500), "How many questions the shortest way shows, where that is known."),
        .optional("longestPath", .integer(0...500), "How many questions the longest way shows, where that is known."),
    ])

    /// There is no error; a warning keeps nothing back.
    public var publishable: Bool
    public var findings: [DraftFinding]
    /// How many questions the shortest way shows, where that is known.
    public var shortestPath: Int64?
    public var longestPath: Int64?

    public init(findings: [DraftFinding], shortestPath: Int64? = nil, longestPath: Int64? = nil) {
        publishable = !findings.contains { $0.severity == "error" }
        self.findings = findings
        (self.shortestPath, self.longestPath) = (shortestPath, longestPath)
    }
}

/// One thing that the gate says of a draft.
public struct DraftFinding: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("severity", .string(1...32), "`error` or `warning`."),
        .required("code", .string(1...32), "`E01` and on, `W1` and on, `malformed` or `unsupported`."),
        .required("pointer", .string(0...4096), "JSON Pointer (RFC 6901) into the definition."),
        .required("message", .string(1...4096)),
        .required("keys", .array(of: .string(1...4096), count: 0...1000), "Questions, options and strings involved."),
    ])

    /// `error` or `warning`.
    public var severity: String
    /// `E01` and on, `W1` and on, `malformed` or `unsupported`.
    public var code: String
    /// JSON Pointer (RFC 6901) into the definition.
    public var pointer: String
    public var message: String
    /// Questions, options and strings involved.
    public var keys: [String]

    public init(severity: String, code: String, pointer: String, message: String, keys: [String]) {
        self.severity = severity
        self.code = code
        self.pointer = pointer
        self.message = message
        self.keys = keys
    }
}

/// The answer to ``PublishDraft``.
public struct VersionPublished: PublicReply {
    public static let schema = JSONSchema.object([
        .required("version", VersionMembers.number),
        .required("hash", VersionMembers.hash),
        .optional("changeClass", .string(1...32), "The gravest of its changes; of a first version there is none."),
        .required("openSessions", .integer(0...9_007_199_254_740_991), "That stay with older versions."),
        .required("answers", .integer(0...9_007_199_254_740_991), "In those, to questions that the change touches."),
        .optional("changes", .array(of: VersionChange.schema, count: 0...mostChanges), "The first 200 of them."),
    ])

    /// How many changes are told.
    public static let mostChanges = 200

    public var version: Int64
    /// 64 hexadecimal digits.
    public var hash: String
    /// The gravest of its changes; of a first version, and where nothing changed, there is none.
    public var changeClass: String?
    /// That stay with older versions.
    public var openSessions: Int64
    /// In those, to questions that the change touches.
    public var answers: Int64
    /// The first ``mostChanges`` of them, against the version before. Came later and is optional.
    public var changes: [VersionChange]?

    public init(
        version: Int64, hash: String, changeClass: String?, openSessions: Int64, answers: Int64,
        changes: [VersionChange]? = nil
    ) {
        self.version = version
        self.hash = hash
        self.changeClass = changeClass
        self.openSessions = openSessions
        self.answers = answers
        self.changes = changes
    }
}

/// The answer to ``CompareVersions``.
public struct VersionDifference: PublicReply {
    public static let schema = JSONSchema.object([
        .required("from", VersionMembers.number), .required("to", VersionMembers.number),
        .optional("changeClass", .string(1...32), "The gravest of the changes, where there is one."),
        .required("changes", .array(of: VersionChange.schema, count: 0...10_000)),
    ])

    public var from: Int64
    public var to: Int64
    /// The gravest of the changes, where there is one.
    public var changeClass: String?
    public var changes: [VersionChange]

    public init(from: Int64, to: Int64, changeClass: String?, changes: [VersionChange]) {
        self.from = from
        self.to = to
        self.changeClass = changeClass
        self.changes = changes
    }
}

/// One thing in which a version differs from another.
public struct VersionChange: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("kind", .string(1...64), "`option_added`, say."),
        .required("changeClass", .string(1...32), "`editorial`, `additive`, `rescore`, `reask` or `breaking`."),
        .required("pointer", .string(0...4096), "JSON Pointer into the newer version; of what is gone, the older."),
        .required("keys", .array(of: .string(1...4096), count: 0...1000)),
    ])

    public var kind: String
    /// `editorial`, `additive`, `rescore`, `reask` or `breaking`.
    public var changeClass: String
    /// JSON Pointer into the newer version; of what is gone, into the older.
    public var pointer: String
    /// What it is about.
    public var keys: [String]

    public init(kind: String, changeClass: String, pointer: String, keys: [String]) {
        self.kind = kind
        self.changeClass = changeClass
        self.pointer = pointer
        self.keys = keys
    }
}
