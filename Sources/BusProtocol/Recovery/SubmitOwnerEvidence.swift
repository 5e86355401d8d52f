import JSONText

/// The owner of an account shows whose it is, while a case against it is contested
/// (`POST /users/me/recovery-cases/{id}/evidence`): the id of a verification or a reference, one of the two. What is given later
/// takes the place of what was given before.
public struct SubmitOwnerEvidence: BusRequest {
    public typealias Reply = EvidenceTaken
    public static let type: MessageType = "recovery.submit-owner-evidence"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .optional("verificationId", .string(1...128)),
        .optional("evidenceReference", .string(1...1024)),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .notFound, .validationFailed, .recoveryNotReady, .recoveryClosed])

    public var recoveryId: Identifier
    public var verificationId: String?
    public var evidenceReference: String?

    public init(recoveryId: Identifier, verificationId: String? = nil, evidenceReference: String? = nil) {
        self.recoveryId = recoveryId
        self.verificationId = verificationId
        self.evidenceReference = evidenceReference
    }
}
