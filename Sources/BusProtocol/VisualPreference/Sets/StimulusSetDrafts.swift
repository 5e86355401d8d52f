import JSONText

/// Creates a draft of the stimulus set.
@Message
public struct CreateStimulusSetDraft: PublicRequest {
    public typealias Reply = StimulusSetDraft
    public static let type: MessageType = "visual-preference.create-set-draft"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .validationFailed],
        largestBody: 524_288, limits: JSONLimits(depth: 32, values: 65_536))
    public static let route = HTTPRoute(
        .post, "/admin/visual-preferences/sets/drafts", .admin, "Creates a draft of the stimulus set.", success: 201,
        bodyLimit: 524_288)

    /// The set so far. It may have errors.
    public var set: JSONValue
}

/// Asks for a draft of the stimulus set with its content.
@Message
public struct GetStimulusSetDraft: PublicRequest {
    public typealias Reply = StimulusSetDraft
    public static let type: MessageType = "visual-preference.get-set-draft"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/visual-preferences/sets/drafts/{n}", .admin, "A draft of the stimulus set with its content.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Deletes a draft that was not published. No other draft gets its number.
@Message
public struct DeleteStimulusSetDraft: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "visual-preference.delete-set-draft"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .draftPublished])
    public static let route = HTTPRoute(
        .delete, "/admin/visual-preferences/sets/drafts/{n}", .admin, "Deletes a draft of the stimulus set.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Lists every error that prevents publishing a draft of the stimulus set.
@Message
public struct CheckStimulusSetDraft: PublicRequest {
    public typealias Reply = DraftReport
    public static let type: MessageType = "visual-preference.check-set-draft"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/visual-preferences/sets/drafts/{n}/check", .admin,
        "Lists every problem of a draft of the stimulus set.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Publishes a draft as the next version of the stimulus set. Sessions that begin from then on have it.
///
/// `definition_invalid` names each problem as ``CheckStimulusSetDraft`` does. A session that is open keeps the version
/// that it began with.
@Message
public struct PublishStimulusSetDraft: PublicRequest {
    public typealias Reply = StimulusSetPublished
    public static let type: MessageType = "visual-preference.publish-set-draft"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .definitionInvalid, .changeNotAccepted, .draftPublished])
    public static let route = HTTPRoute(
        .post, "/admin/visual-preferences/sets/drafts/{n}/publish", .admin, "Publishes a draft of the stimulus set.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// The most severe class of change that the editor accepts.
    @Field(.changeClass.closed) public var acceptClass: String?
}
