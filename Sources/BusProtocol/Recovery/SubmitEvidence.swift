import JSONText

/// The claimant gives evidence of who they are, after the hold: the id of a
/// verification or a reference, one of the two. Given again, it is answered as the first time.
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

    @Field(from: .path("id")) public var recoveryId: Identifier
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
    @Field(.string(1...128)) public var verificationId: String?
    @Field(.string(1...1024)) public var evidenceReference: String?
}

/// The evidence waits for a reviewer.
@Message
public struct EvidenceTaken: PublicReply {
    @Field(.string(1...32)) public var status: String
}
