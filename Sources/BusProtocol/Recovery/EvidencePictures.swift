import JSONText

/// Promises a claimant the upload of a picture that shows who they are.
///
/// The claimant proves the number or address with a new code at most 15 minutes before. The first of several pictures carries
/// it. A decoy and a disputed case take pictures in the same way, and destroy them unread.
@Message
public struct AddClaimantPicture: PublicRequest {
    public typealias Reply = UploadCreated
    public static let type: MessageType = "recovery.add-claimant-picture"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .reauthenticationRequired, .otpInvalid, .otpExpired, .otpLocked, .recoveryNotReady,
            .recoveryClosed, .tooManyPictures, .rateLimited,
        ],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/recovery/{id}/pictures", .recoveryToken, "Promises the upload of a claimant's picture.",
        success: 201, hidesItsTime: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The claimant's token from the request.
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
    /// What kind of file the picture is. Other formats must be converted first.
    @Field(.values("image/jpeg", "image/png"), example: "image/jpeg") public var contentType: String
    /// The size of the picture in bytes, at most 8 MiB.
    @Field(.integer(1...8_388_608), example: 204_800) public var length: Int64
    /// A new challenge for the claimant's number or email address, sent for this recovery. It may be left out for 15 minutes
    /// after a right code.
    public var challengeId: Identifier?
    /// The code that the claimant received.
    @Field(.otp) public var code: String?
}

/// Promises an owner the upload of a picture, while a case is contested.
@Message
public struct AddOwnerPicture: PublicRequest {
    public typealias Reply = UploadCreated
    public static let type: MessageType = "recovery.add-owner-picture"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .recoveryNotReady, .recoveryClosed, .tooManyPictures, .rateLimited],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/users/me/recovery-cases/{id}/pictures", .user, "Promises the upload of the owner's picture.",
        success: 201)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// What kind of file the picture is. Other formats must be converted first.
    @Field(.values("image/jpeg", "image/png"), example: "image/jpeg") public var contentType: String
    /// The size of the picture in bytes, at most 8 MiB.
    @Field(.integer(1...8_388_608), example: 204_800) public var length: Int64
}

/// Nobody may see the pictures of a recovery case any more. Verification destroys them, and those that arrive later.
@Message
public struct EvidenceEnded: BusEvent {
    public static let type: MessageType = "recovery.evidence-ended"
    public static let rules = MessageRules(
        service: .verification, callers: [.recovery], effect: .idempotent, delivery: .untilTaken)

    /// The case, so that nothing here leads to an account.
    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
}
