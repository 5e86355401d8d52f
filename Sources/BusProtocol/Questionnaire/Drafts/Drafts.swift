import JSONText

/// Asks for a questionnaire's versions and drafts. For its editor.
@Message
public struct ViewQuestionnaire: PublicRequest {
    public typealias Reply = QuestionnaireOverview
    public static let type: MessageType = "questionnaire.view-questionnaire"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}", .admin, "A questionnaire with its drafts and versions.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
}

/// Creates a draft from a definition or as a copy of a version.
///
/// To go back to an older version, publish a copy of it.
@Message
public struct CreateDraft: PublicRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.create-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed], largestBody: 524_288,
        limits: JSONLimits(depth: 32, values: 65_536))
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/drafts", .admin, "Creates a draft.", success: 201, bodyLimit: 524_288)

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The definition so far. It may have errors.
    @Field(inExamples: false) public var definition: JSONValue?
    /// The version to copy, instead of a definition.
    @Field(VersionMembers.number, example: 1) public var from: Int64?
}

/// Asks for a draft with its content.
@Message
public struct GetDraft: PublicRequest {
    public typealias Reply = Draft
    public static let type: MessageType = "questionnaire.get-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}/drafts/{n}", .admin, "A draft with its content.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Replaces the content of a draft that is not yet published.
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

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// The definition so far. It may have errors.
    public var definition: JSONValue
    /// The entity tag of the draft that the client changed.
    @Field(.string(1...64), from: .header("if-match")) public var ifMatch: String?
}

/// Lists every error that prevents publishing a draft, and warnings about likely mistakes.
@Message
public struct CheckDraft: PublicRequest {
    public typealias Reply = DraftReport
    public static let type: MessageType = "questionnaire.check-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/drafts/{n}/check", .admin, "Lists every problem of a draft.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Publishes a draft as the next version. A version never changes. Open sessions stay with their version.
///
/// The editor must accept what the change asks of people. `change_not_accepted` names the class, each change, and how
/// many open sessions and answers it affects. `definition_invalid` names each problem as ``CheckDraft`` does.
@Message
public struct PublishDraft: PublicRequest {
    public typealias Reply = VersionPublished
    public static let type: MessageType = "questionnaire.publish-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .definitionInvalid, .changeNotAccepted, .draftPublished])
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/drafts/{n}/publish", .admin, "Publishes a draft.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// The most severe class of change that the editor accepts. It may be missing for a first version.
    @Field(.changeClass.closed) public var acceptClass: String?
}

/// Retires a version. No new session uses it, and open sessions may be completed.
@Message
public struct RetireVersion: PublicRequest {
    public typealias Reply = VersionSummary
    public static let type: MessageType = "questionnaire.retire-version"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/questionnaires/{key}/versions/{n}/retire", .admin, "Retires a version.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// Asks for the differences between two versions.
@Message
public struct CompareVersions: PublicRequest {
    public typealias Reply = VersionDifference
    public static let type: MessageType = "questionnaire.compare-versions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}/diff", .admin, "The differences between two versions.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The older version. It is required.
    @Field(VersionMembers.number, from: .query("from")) public var from: Int64?
    /// The newer version. It is required.
    @Field(VersionMembers.number, from: .query("to")) public var to: Int64?
}
