import JSONText

/// The owner gives evidence that the account is theirs, while a case is contested: the ID of a verification or a
/// reference.
///
/// Exactly one of the two is given. New evidence replaces what the owner gave before.
@Message
public struct SubmitOwnerEvidence: PublicRequest {
    public typealias Reply = EvidenceTaken
    public static let type: MessageType = "recovery.submit-owner-evidence"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .validationFailed, .recoveryNotReady, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/users/me/recovery-cases/{id}/evidence", .user, "Gives the owner's evidence in a contested case.",
        success: 202)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The ID of a verification.
    @Field(.string(1...128), inExamples: false) public var verificationId: String?
    /// A reference that the reviewers can follow.
    @Field(.string(1...1024)) public var evidenceReference: String?
}
