import JSONText

/// The cases against one's own account (`GET /users/me/recovery-cases`), as they are: also those that were disputed.
public struct ListOwnCases: BusRequest {
    public typealias Reply = OwnRecoveryCases
    public static let type: MessageType = "recovery.list-own-cases"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public init() {}
}

/// The newest first; a hundred at the most.
public struct OwnRecoveryCases: PublicReply {
    public static let schema = JSONSchema.object([
        .required("cases", .array(of: Case.schema, count: 0...100)),
        .required("lockEnabled", .boolean, "Only a claimant with a proof may ask for the account"),
        .optional("lockEndsAt", .dateTime, "Somebody switched the lock off: it holds until then"),
    ])
    public var cases: [Case]
    public var lockEnabled: Bool
    public var lockEndsAt: Timestamp?

    public struct Case: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("recoveryId", .uuid), .required("status", .string(1...32)), .required("requestedAt", .dateTime),
            .required("holdUntil", .dateTime), .optional("closedAt", .dateTime),
        ])
        public var recoveryId: Identifier
        public var status: String
        public var requestedAt: Timestamp
        public var holdUntil: Timestamp
        public var closedAt: Timestamp?

        public init(
            recoveryId: Identifier, status: String, requestedAt: Timestamp, holdUntil: Timestamp, closedAt: Timestamp?
        ) {
            self.recoveryId = recoveryId
            self.status = status
            self.requestedAt = requestedAt
            self.holdUntil = holdUntil
            self.closedAt = closedAt
        }
    }

    public init(cases: [Case], lockEnabled: Bool, lockEndsAt: Timestamp? = nil) {
        (self.cases, self.lockEnabled, self.lockEndsAt) = (cases, lockEnabled, lockEndsAt)
    }
}

/// Admits to a recovery of one's own account only who has shown what a stranger cannot (`PUT /users/me/recovery-lock`).
///
/// Both ways take a sign-in by a code within five minutes, and every device is told. A lock that is switched off holds for 24
/// hours more: until then any session of the account keeps it, by `enabled: true`.
public struct SetRecoveryLock: BusRequest {
    public typealias Reply = RecoveryLock
    public static let type: MessageType = "recovery.set-lock"
    public static let schema = JSONSchema.object([.required("enabled", .boolean)])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired])

    public var enabled: Bool
    public init(enabled: Bool) { self.enabled = enabled }
}

/// Whether the lock is on.
public struct RecoveryLock: PublicReply {
    public static let schema = JSONSchema.object([
        .required("enabled", .boolean), .optional("endsAt", .dateTime, "It was switched off, and holds until then"),
    ])
    public var enabled: Bool
    public var endsAt: Timestamp?
    public init(enabled: Bool, endsAt: Timestamp? = nil) { (self.enabled, self.endsAt) = (enabled, endsAt) }
}
