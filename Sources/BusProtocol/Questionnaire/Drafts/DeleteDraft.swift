import JSONText

/// Deletes a draft that was not published. Its number is not given to another draft.
@Message
public struct DeleteDraft: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "questionnaire.delete-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .draftPublished])
    public static let route = HTTPRoute(
        .delete, "/admin/questionnaires/{key}/drafts/{n}", .admin, "Deletes a draft.", success: 204)

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}
