import JSONText

/// The claimant withdraws (`POST /auth/recovery/{id}/cancel`). Said again, it is answered as the first time.
///
/// Fails with `unauthorized` for a wrong token as for a case that does not exist. A case that was disputed is answered as
/// one that was not.
public struct CancelRecovery: BusRequest {
    public typealias Reply = RecoveryCancelled
    public static let type: MessageType = "recovery.cancel-case"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("recoveryToken", .string(1...128)),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .recoveryClosed])

    public var recoveryId: Identifier
    public var recoveryToken: String

    public init(recoveryId: Identifier, recoveryToken: String) {
        self.recoveryId = recoveryId
        self.recoveryToken = recoveryToken
    }
}

/// The claim is withdrawn.
public struct RecoveryCancelled: PublicReply {
    public static let schema = JSONSchema.object([.required("status", .string(1...32))])
    public var status: String
    public init(status: String) { self.status = status }
}
