import JSONText

/// A questionnaire's versions and drafts, for its editor.
@Message
public struct ViewQuestionnaire: PublicRequest {
    public typealias Reply = QuestionnaireOverview
    public static let type: MessageType = "questionnaire.view-questionnaire"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}", .admin, "A questionnaire with its drafts and versions.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
}

/// Begins a draft: of a definition, or as a copy of a version. Publishing the
/// copy of an older version is how one goes back.
@Message
public struct CreateDraft: PublicRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.create-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed], largestBody: 524_288,
        limits: JSONLimits(depth: 32, values: 65_536))
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/drafts", .admin, "Begins a draft.", success: 201, bodyLimit: 524_288)

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// As it stands so far; it may have errors.
    public var definition: JSONValue?
    /// The version to copy, instead.
    @Field(VersionMembers.number) public var from: Int64?
}

/// A draft as it stands.
@Message
public struct GetDraft: PublicRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.get-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}/drafts/{n}", .admin, "A draft as it stands.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    ///
    /// In decimal digits, as it stands in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Replaces a draft that was not published yet.
@Message
public struct PutDraft: PublicRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.put-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed, .preconditionFailed, .draftPublished],
        largestBody: 524_288, limits: JSONLimits(depth: 32, values: 65_536))
    public static let route = HTTPRoute(
        .put, "/admin/questionnaires/{key}/drafts/{n}", .admin, "Replaces a draft.", bodyLimit: 524_288)

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    ///
    /// In decimal digits, as it stands in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// As it stands so far; it may have errors.
    public var definition: JSONValue
    /// The entity tag of the draft that was changed.
    @Field(.string(1...64), from: .header("if-match")) public var ifMatch: String?
}

/// Lists everything that keeps a draft from being published, and what its author may have meant otherwise.
@Message
public struct CheckDraft: PublicRequest {
    public typealias Reply = DraftReport
    public static let type: MessageType = "questionnaire.check-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/drafts/{n}/check", .admin, "Lists every problem of a draft.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    ///
    /// In decimal digits, as it stands in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Publishes a draft as the next version. It never changes from then on; open sessions stay with theirs.
///
/// What the change asks of people must be acknowledged: `change_not_accepted` names the class, each change, and how many open
/// sessions and answers it touches. `definition_invalid` names each problem as ``CheckDraft`` does.
@Message
public struct PublishDraft: PublicRequest {
    public typealias Reply = VersionPublished
    public static let type: MessageType = "questionnaire.publish-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .definitionInvalid, .changeNotAccepted, .draftPublished])
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/drafts/{n}/publish", .admin, "Publishes a draft.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    ///
    /// In decimal digits, as it stands in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// The gravest class of change that is meant; may be missing for a first version.
    @Field(.values("editorial", "additive", "rescore", "reask", "breaking")) public var acceptClass: String?
}

/// Takes a version out of use: nobody begins with it any more, and who is under way may finish.
@Message
public struct RetireVersion: PublicRequest {
    public typealias Reply = VersionSummary
    public static let type: MessageType = "questionnaire.retire-version"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/versions/{n}/retire", .admin, "Retires a version.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    ///
    /// In decimal digits, as it stands in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// What differs between two versions.
@Message
public struct CompareVersions: PublicRequest {
    public typealias Reply = VersionDifference
    public static let type: MessageType = "questionnaire.compare-versions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}/diff", .admin, "What differs between two versions.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// Wanted.
    @Field(VersionMembers.number, from: .query("from")) public var from: Int64?
    /// Wanted.
    @Field(VersionMembers.number, from: .query("to")) public var to: Int64?
}
