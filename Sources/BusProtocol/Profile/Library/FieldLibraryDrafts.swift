import JSONText

/// Creates a draft of the library of fields.
@Message
public struct CreateFieldLibraryDraft: PublicRequest {
    public typealias Reply = FieldLibraryDraft
    public static let type: MessageType = "profile.create-field-library-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .once, errors: [.unauthorized, .forbidden, .validationFailed],
        largestBody: 524_288, limits: JSONLimits(depth: 32, values: 65_536))
    public static let route = HTTPRoute(
        .post, "/admin/fields/drafts", .admin, "Creates a draft of the library of fields.", success: 201,
        bodyLimit: 524_288)

    /// The library so far. It may have errors.
    public var library: JSONValue
}

/// Asks for a draft of the library of fields with its content.
@Message
public struct GetFieldLibraryDraft: PublicRequest {
    public typealias Reply = FieldLibraryDraft
    public static let type: MessageType = "profile.get-field-library-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/fields/drafts/{n}", .admin, "A draft of the library of fields with its content.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Deletes a draft that was not published. No other draft gets its number.
@Message
public struct DeleteFieldLibraryDraft: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "profile.delete-field-library-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .draftPublished])
    public static let route = HTTPRoute(
        .delete, "/admin/fields/drafts/{n}", .admin, "Deletes a draft of the library of fields.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Lists every error that prevents publishing a draft of the library of fields.
@Message
public struct CheckFieldLibraryDraft: PublicRequest {
    public typealias Reply = DraftReport
    public static let type: MessageType = "profile.check-field-library-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/fields/drafts/{n}/check", .admin, "Lists every problem of a draft of the library of fields.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}

/// Publishes a draft as the next version of the library of fields. All plans are read with it from then on.
///
/// `definition_invalid` names each problem as ``CheckFieldLibraryDraft`` does. No version removes, retypes or narrows a
/// field, so every plan and every answer stays valid.
@Message
public struct PublishFieldLibraryDraft: PublicRequest {
    public typealias Reply = FieldLibraryPublished
    public static let type: MessageType = "profile.publish-field-library-draft"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .definitionInvalid, .changeNotAccepted, .draftPublished])
    public static let route = HTTPRoute(
        .post, "/admin/fields/drafts/{n}/publish", .admin, "Publishes a draft of the library of fields.")

    /// The number of the draft, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var draft: String
    /// The most severe class of change that the editor accepts.
    @Field(.changeClass.closed) public var acceptClass: String?
}
