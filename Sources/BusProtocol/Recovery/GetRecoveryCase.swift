import JSONText

/// A claimant's look at the own case (`GET /auth/recovery/{id}`).
///
/// Fails with `unauthorized` for a wrong token as for a case that does not exist.
public struct GetRecoveryCase: BusRequest {
    public typealias Reply = RecoveryCaseView
    public static let type: MessageType = "recovery.get-case"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("recoveryToken", .string(1...128)),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])

    public var recoveryId: Identifier
    public var recoveryToken: String

    public init(recoveryId: Identifier, recoveryToken: String) {
        self.recoveryId = recoveryId
        self.recoveryToken = recoveryToken
    }
}

/// What a claimant sees: the same for a case that was disputed and for a number that has no account.
public struct RecoveryCaseView: PublicReply {
    public static let schema = JSONSchema.object([
        .required("status", .string(1...32)), .required("requestedAt", .dateTime), .required("holdUntil", .dateTime),
        .required("remainingSeconds", .integer(0...1_209_600), "Of the hold"),
        .required("steps", .array(of: RecoveryStep.schema, count: 1...8)),
    ])
    public var status: String
    public var requestedAt: Timestamp
    public var holdUntil: Timestamp
    public var remainingSeconds: Int64
    public var steps: [RecoveryStep]

    public init(
        status: String, requestedAt: Timestamp, holdUntil: Timestamp, remainingSeconds: Int64, steps: [RecoveryStep]
    ) {
        self.status = status
        self.requestedAt = requestedAt
        self.holdUntil = holdUntil
        self.remainingSeconds = remainingSeconds
        self.steps = steps
    }
}

/// One step of a recovery, in the order in which they are taken.
public struct RecoveryStep: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("key", .values("hold", "identity", "review", "complete")),
        .required("state", .values("done", "current", "pending")),
    ])
    public var key: String
    public var state: String
    public init(key: String, state: String) { (self.key, self.state) = (key, state) }
}
