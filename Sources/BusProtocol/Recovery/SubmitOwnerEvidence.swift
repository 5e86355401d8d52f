import JSONText

/// The owner of an account shows whose it is, while a case against it is contested: the id of a verification or a reference, one of the two. What is given later
/// takes the place of what was given before.
@Message
public struct SubmitOwnerEvidence: PublicRequest {
    public typealias Reply = EvidenceTaken
    public static let type: MessageType = "recovery.submit-owner-evidence"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .validationFailed, .recoveryNotReady, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/users/me/recovery-cases/{id}/evidence", .user, "Shows whose the account is, in a contested case.",
        success: 202)

    @Field(from: .path("id")) public var recoveryId: Identifier
    @Field(.string(1...128)) public var verificationId: String?
    @Field(.string(1...1024)) public var evidenceReference: String?
}
