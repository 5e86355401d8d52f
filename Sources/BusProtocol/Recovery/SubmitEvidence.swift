import JSONText

/// After the hold, the claimant gives evidence of who they are: the ID of a verification or a reference. Exactly one of
/// the two is given.
///
/// A repetition gets the same reply.
@Message
public struct SubmitEvidence: PublicRequest {
    public typealias Reply = EvidenceTaken
    public static let type: MessageType = "recovery.submit-evidence"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .recoveryNotReady, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/auth/recovery/{id}/identity", .recoveryToken, "Gives evidence of identity.", success: 202,
        hidesItsTime: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The claimant's token from the request.
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
    /// The ID of a verification.
    @Field(.string(1...128), inExamples: false) public var verificationId: String?
    /// A reference that the reviewers can follow.
    @Field(.string(1...1024)) public var evidenceReference: String?
}

/// The evidence waits for a reviewer.
@Message
public struct EvidenceTaken: PublicReply {
    /// The status of the case.
    @Field(.recoveryStatus) public var status: String
}
