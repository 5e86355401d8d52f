import JSONText

/// A questionnaire's versions and drafts, for its editor (`GET /admin/questionnaires/{key}`).
public struct ViewQuestionnaire: BusRequest {
    public typealias Reply = QuestionnaireOverview
    public static let type: MessageType = "questionnaire.view-questionnaire"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden])
    public static let schema = JSONSchema.object([SessionMembers.questionnaire])

    /// Key of the questionnaire.
    public var questionnaire: String

    public init(questionnaire: String) { self.questionnaire = questionnaire }
}

/// Begins a draft (`POST /admin/questionnaires/{key}/drafts`): of a definition, or as a copy of a version. Publishing the
/// copy of an older version is how one goes back.
public struct CreateDraft: BusRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.create-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed], largestBody: 524_288,
        limits: JSONLimits(depth: 32, values: 65_536))
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire,
        .optional("definition", .any, "As it stands so far; it may have errors."),
        .optional("from", VersionMembers.number, "The version to copy, instead."),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    /// As it stands so far.
    public var definition: JSONValue?
    /// The version to copy, instead.
    public var from: Int64?

    public init(questionnaire: String, definition: JSONValue? = nil, from: Int64? = nil) {
        self.questionnaire = questionnaire
        self.definition = definition
        self.from = from
    }
}

/// A draft as it stands (`GET /admin/questionnaires/{key}/drafts/{n}`).
public struct GetDraft: BusRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.get-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let schema = JSONSchema.object([SessionMembers.questionnaire, VersionMembers.draft])

    /// Key of the questionnaire.
    public var questionnaire: String
    /// In decimal digits, as it stands in the path.
    public var draft: String

    public init(questionnaire: String, draft: String) { (self.questionnaire, self.draft) = (questionnaire, draft) }
}

/// Replaces a draft that was not published yet (`PUT /admin/questionnaires/{key}/drafts/{n}`).
public struct PutDraft: BusRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.put-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed, .preconditionFailed, .draftPublished],
        largestBody: 524_288, limits: JSONLimits(depth: 32, values: 65_536))
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, VersionMembers.draft,
        .required("definition", .any, "As it stands so far; it may have errors."),
        .optional("ifMatch", .string(1...64)),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    /// In decimal digits, as it stands in the path.
    public var draft: String
    /// As it stands so far.
    public var definition: JSONValue
    /// The entity tag of the draft that was changed.
    public var ifMatch: String?

    public init(questionnaire: String, draft: String, definition: JSONValue, ifMatch: String? = nil) {
        self.questionnaire = questionnaire
        self.draft = draft
        self.definition = definition
        self.ifMatch = ifMatch
    }
}

/// Lists everything that keeps a draft from being published, and what its author may have meant otherwise
/// (`POST /admin/questionnaires/{key}/drafts/{n}/check`).
public struct CheckDraft: BusRequest {
    public typealias Reply = DraftReport
    public static let type: MessageType = "questionnaire.check-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let schema = GetDraft.schema

    /// Key of the questionnaire.
    public var questionnaire: String
    /// In decimal digits, as it stands in the path.
    public var draft: String

    public init(questionnaire: String, draft: String) { (self.questionnaire, self.draft) = (questionnaire, draft) }
}

/// Publishes a draft as the next version (`POST /admin/questionnaires/{key}/drafts/{n}/publish`). It never changes from
/// then on; open sessions stay with theirs.
///
/// What the change asks of people must be acknowledged: `change_not_accepted` names the class, each change, and how many
/// open sessions and answers it touches. `definition_invalid` names each problem as ``CheckDraft`` does.
public struct PublishDraft: BusRequest {
    public typealias Reply = VersionPublished
    public static let type: MessageType = "questionnaire.publish-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .definitionInvalid, .changeNotAccepted, .draftPublished])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, VersionMembers.draft,
        .optional(
            "acceptClass", .values("editorial", "additive", "rescore", "reask", "breaking"),
            "The gravest class of change that is meant."),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    /// In decimal digits, as it stands in the path.
    public var draft: String
    /// The gravest class of change that is meant; may be missing for a first version.
    public var acceptClass: String?

    public init(questionnaire: String, draft: String, acceptClass: String? = nil) {
        self.questionnaire = questionnaire
        self.draft = draft
        self.acceptClass = acceptClass
    }
}

/// Takes a version out of use (`POST /admin/questionnaires/{key}/versions/{n}/retire`): nobody begins with it any more, and
/// who is under way may finish.
public struct RetireVersion: BusRequest {
    public typealias Reply = VersionSummary
    public static let type: MessageType = "questionnaire.retire-version"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound])
    public static let schema = GetQuestionnaireVersion.schema

    /// Key of the questionnaire.
    public var questionnaire: String
    /// In decimal digits, as it stands in the path.
    public var version: String

    public init(questionnaire: String, version: String) {
        (self.questionnaire, self.version) = (questionnaire, version)
    }
}

/// What differs between two versions (`GET /admin/questionnaires/{key}/diff?from=&to=`).
public struct CompareVersions: BusRequest {
    public typealias Reply = VersionDifference
    public static let type: MessageType = "questionnaire.compare-versions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire,
        .optional("from", VersionMembers.number, "Wanted."), .optional("to", VersionMembers.number, "Wanted."),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var from: Int64?
    public var to: Int64?

    public init(questionnaire: String, from: Int64? = nil, to: Int64? = nil) {
        self.questionnaire = questionnaire
        (self.from, self.to) = (from, to)
    }
}
