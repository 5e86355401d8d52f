import JSONText

/// The owner says no (`POST /auth/recovery/{id}/dispute`), by a session of the account or by the token that the
/// notification carried. Said again, it is answered as the first time.
public struct DisputeRecovery: BusRequest {
    public typealias Reply = RecoveryDisputed
    public static let type: MessageType = "recovery.dispute-case"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .optional("disputeToken", .string(1...128)),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .recoveryClosed])

    public var recoveryId: Identifier
    public var disputeToken: String?

    public init(recoveryId: Identifier, disputeToken: String? = nil) {
        self.recoveryId = recoveryId
        self.disputeToken = disputeToken
    }
}

/// The case is over.
public struct RecoveryDisputed: PublicReply {
    public static let schema = JSONSchema.object([.required("status", .string(1...32))])
    public var status: String
    public init(status: String) { self.status = status }
}
