import JSONText

/// Deletes a draft that was not published. No other draft gets its number.
@Message
public struct DeleteDraft: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "questionnaire.delete-draft"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .draftPublished])
    public static let route = HTTPRoute(
        .delete, "/admin/questionnaires/{key}/drafts/{n}", .admin, "Deletes a draft.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the draft, from 1.
    @Field(.string(1...10), from: .path("n")) public var draft: String
}
