import JSONText

/// Begins a verification of the person by a photo, or says why none is needed.
///
/// Without consent nothing about the person is kept, and profile is told that they declined. A session that waits for its
/// capture is replaced.
@Message
public struct BeginVerification: PublicRequest {
    public typealias Reply = VerificationBegun
    public static let type: MessageType = "verification.begin-session"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .once, errors: [.unauthorized, .rateLimited],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/verification/session", .user, "Begins a verification.", otherSuccess: 201)

    /// What the person agreed to. Without it the person declined.
    @Field(inExamples: true) public var consent: BiometricConsent?
}

/// Begins a verification of the person by a document, as ``BeginVerification`` does by a photo. Neither changes the other.
@Message
public struct BeginDocumentVerification: PublicRequest {
    public typealias Reply = VerificationBegun
    public static let type: MessageType = "verification.begin-document-session"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .once, errors: [.unauthorized, .rateLimited],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/verification/document/session", .user, "Begins a verification by a document.", otherSuccess: 201)

    /// What the person agreed to. Without it the person declined.
    @Field(inExamples: true) public var consent: DocumentConsent?
}

/// A person's consent to a verification.
@Message
public struct BiometricConsent: MessageValue {
    /// Whether the person agreed that their face is examined. False is as good as no consent.
    public var biometric: Bool
    /// The version of the text that the person read. It is kept with the language of the request.
    @Field(.string(1...64), example: "2026-02") public var textVersion: String
    /// When the person agreed.
    public var at: Timestamp
}

/// A person's consent to a verification by a document.
@Message
public struct DocumentConsent: MessageValue {
    /// Whether the person agreed that reviewers look at pictures of their document. False is as good as no consent.
    public var document: Bool
    /// The version of the text that the person read. It is kept with the language of the request.
    @Field(.string(1...64), example: "2026-12") public var textVersion: String
    /// When the person agreed.
    public var at: Timestamp
}

/// The answer to ``BeginVerification``.
@Message
public struct VerificationBegun: PublicReply {
    /// The session.
    public var sessionId: Identifier?
    /// `awaiting_capture` for a new session. Any other status: none began, and this is why.
    @Field(.verificationStatus, example: "awaiting_capture") public var status: String
    /// What the app asks of the person while it takes the photo, in this order.
    @Field(count: 0...8) public var prompts: [VerificationPrompt]
    /// Until when the capture is taken.
    public var expiresAt: Timestamp?
    /// How many sessions may still be judged, with this one.
    @Field(.integer(0...3), example: 3) public var attemptsLeft: Int64
    /// A sentence for the person.
    @Field(.string(1...500), example: "Please take a photo of your face.") public var message: String
    /// A check that the app runs in place of sending a photo.
    @Field(inExamples: false) public var provider: LivenessCheck?

    public var hasOtherSuccess: Bool { status == "awaiting_capture" }
}

/// A check of a person's face that the app runs with the provider's own software.
@Message
public struct LivenessCheck: MessageValue {
    /// `rekognition`. A later release may have more.
    @Field(.string(1...32), example: "rekognition") public var name: String
    /// The check at the provider.
    @Field(.string(1...64), example: "0b7f2f4e-8c1d-4f3a-9d55-6a1c3e0a7b12") public var sessionId: String
    /// The provider's region.
    @Field(.string(1...32), example: "eu-west-1") public var region: String
    /// Keys for this check.
    public var credentials: Credentials

    /// Keys that can start a check and do nothing else.
    @Message
    public struct Credentials: MessageValue {
        /// The id of the key.
        @Field(.string(1...128), example: "ASIAEXAMPLE") public var accessKeyId: String
        /// The key. Keep it in memory only.
        @Field(.string(1...128), example: "wJalrXUtnFEMIEXAMPLEKEY") public var secretAccessKey: String
        /// Goes with the key.
        @Field(.string(1...4096), example: "IQoJb3JpZ2luX2VjEXAMPLE") public var sessionToken: String
        /// Until when the keys can be used.
        public var expiresAt: Timestamp
    }
}

/// Something to ask of the person.
@Message
public struct VerificationPrompt: MessageValue {
    /// `light`, `glasses`, `center`, `blink`, `turn_left`, `front` or `back`. A later release may have more.
    @Field(.string(1...32), example: "light") public var key: String
    /// The same as a sentence.
    @Field(.string(1...200), example: "Find good light.") public var text: String
}

/// Promises an upload of the session's photo, or of one side of its document.
///
/// The picture goes to the address by PUT, once. Another call takes back the upload before it of the same side, as for a photo
/// that is taken again.
@Message
public struct AddCapture: PublicRequest {
    public typealias Reply = CapturePromised
    public static let type: MessageType = "verification.add-capture"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .verificationClosed, .rateLimited], replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/verification/session/{id}/capture", .user, "Promises the upload of a picture.", success: 201)

    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// Which side of a document the picture shows. Missing is `front`. A photo has one side only.
    @Field(.values("front", "back"), inExamples: false) public var side: String?
    /// What kind of file the picture is. Other formats must be converted first.
    @Field(.values("image/jpeg", "image/png"), example: "image/jpeg") public var contentType: String
    /// The size of the picture in bytes, at most 8 MiB.
    @Field(.integer(1...8_388_608), example: 184_320) public var length: Int64
}

/// The answer to ``AddCapture``.
@Message
public struct CapturePromised: PublicReply {
    /// Where the picture goes by PUT, with the same content type and length.
    @Field(.string(1...2048), example: "https://api.example.com/uploads/0193c0de?signature=51ab")
    public var uploadUrl: String
    /// Until when the address can be used.
    public var expiresAt: Timestamp
}

/// Says that the pictures are uploaded, and asks for a verdict. Reviewers alone decide on a document.
@Message
public struct CompleteVerification: PublicRequest {
    public typealias Reply = VerificationView
    public static let type: MessageType = "verification.complete-session"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .verificationClosed, .captureMissing])
    public static let route = HTTPRoute(
        .post, "/verification/session/{id}/complete", .user, "Ends a verification.", otherSuccess: 202)

    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The verdict of the judge of development systems. No other judge reads it.
    @Field(.string(1...32), from: .header("vestibule-test-verdict"), inExamples: false) public var testVerdict: String?
}

/// Asks how far a verification is.
@Message
public struct GetVerification: PublicRequest {
    public typealias Reply = VerificationView
    public static let type: MessageType = "verification.get-session"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/verification/session/{id}", .user, "How far a verification is.")

    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
}

/// A verification as its person sees it.
@Message
public struct VerificationView: PublicReply {
    /// How far it is.
    @Field(.verificationStatus, example: "processing") public var status: String
    /// A sentence for the person.
    @Field(.string(1...500), example: "We are looking at your photo.") public var message: String
    /// How many sessions may still be judged.
    @Field(.integer(0...3), example: 2) public var attemptsLeft: Int64

    /// There is no verdict yet.
    public var hasOtherSuccess: Bool { status == "processing" || status == "manual_review" }
}

/// Takes the consent to a verification by a photo back. The photo is destroyed at once. A verdict stays. Whoever is not
/// verified yet has declined.
@Message
public struct WithdrawVerificationConsent: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "verification.withdraw-consent"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .delete, "/verification/consent", .user, "Takes back the consent to a verification.")
}

/// Takes the consent to a verification by a document back, as ``WithdrawVerificationConsent`` does for a photo. Neither
/// changes the other.
@Message
public struct WithdrawDocumentConsent: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "verification.withdraw-document-consent"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .delete, "/verification/document/consent", .user, "Takes back the consent to a verification by a document.")
}

extension JSONSchema {
    static let verificationStatus = JSONSchema.open(
        1...64, "not_started", "declined", "awaiting_capture", "processing", "verified", "liveness_failed",
        "quality_too_low", "inconclusive", "rejected", "manual_review", "expired"
    ).named("VerificationStatus", "How far a verification is.")
    static let verificationTier = JSONSchema.values("photo", "id").named(
        "VerificationTier", "What a person is verified by: a photo of the face, or a document.")
}
