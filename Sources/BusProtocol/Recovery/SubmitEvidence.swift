import JSONText

/// The claimant gives evidence of who they are, after the hold (`POST /auth/recovery/{id}/identity`): the id of a
/// verification or a reference, one of the two. Given again, it is answered as the first time.
public struct SubmitEvidence: BusRequest {
    public typealias Reply = EvidenceTaken
    public static let type: MessageType = "recovery.submit-evidence"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("recoveryToken", .string(1...128)),
        .optional("verificationId", .string(1...128)), .optional("evidenceReference", .string(1...1024)),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .recoveryNotReady, .recoveryClosed])

    public var recoveryId: Identifier
    public var recoveryToken: String
    public var verificationId: String?
    public var evidenceReference: String?

    public init(
        recoveryId: Identifier, recoveryToken: String, verificationId: String? = nil, evidenceReference: String? = nil
    ) {
        self.recoveryId = recoveryId
        self.recoveryToken = recoveryToken
        self.verificationId = verificationId
        self.evidenceReference = evidenceReference
    }
}

/// The evidence waits for a reviewer.
public struct EvidenceTaken: PublicReply {
    public static let schema = JSONSchema.object([.required("status", .string(1...32))])
    public var status: String
    public init(status: String) { self.status = status }
}
