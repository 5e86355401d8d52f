import JSONText

/// Moves an account to its claimant: the number, a session on the claimant's device, and an end to every older session, device
/// and push token. Once for each case; asked again for a case that was applied, it fails with `idempotency_answer_gone`.
///
/// The code is of a new `recovery` challenge for the number that claimed. `recovery_closed` where auth has no freeze for the
/// case; `recovery_not_ready` before the hold is over, which auth counts itself.
public struct ApplyRecovery: BusRequest {
    public typealias Reply = RecoveryMoved
    public static let type: MessageType = "auth.apply-recovery"
    public static let schema = JSONSchema.object([
        .required("caseID", .uuid), .required("challengeID", .uuid),
        .required("code", .string(.init(length: 6...6, format: .otp))), .required("device", DeviceClaim.schema),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .once,
        errors: [
            .otpInvalid, .otpExpired, .otpLocked, .recoveryClosed, .claimantHasAccount, .idempotencyAnswerGone,
            .recoveryNotReady,
        ],
        replyCarriesToken: true)

    public var caseID: Identifier
    public var challengeID: Identifier
    public var code: String
    public var device: DeviceClaim

    public init(caseID: Identifier, challengeID: Identifier, code: String, device: DeviceClaim) {
        self.caseID = caseID
        self.challengeID = challengeID
        self.code = code
        self.device = device
    }
}

/// The account is the claimant's.
public struct RecoveryMoved: BusReply {
    public static let schema = JSONSchema.object([.required("session", Session.schema)])
    public var session: Session
    public init(session: Session) { self.session = session }
}

/// An account was moved to its claimant. Recovery ends its case by this event where the reply to ``ApplyRecovery`` was lost.
public struct RecoveryApplied: BusEvent {
    public static let type: MessageType = "auth.recovery-applied"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("caseID", .uuid), .required("appliedAt", .dateTime),
    ])
    public static let rules = MessageRules(service: .recovery, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    public var personSequence: Int64
    public var caseID: Identifier
    public var appliedAt: Timestamp

    public init(personID: Identifier, personSequence: Int64 = 0, caseID: Identifier, appliedAt: Timestamp) {
        self.personID = personID
        self.personSequence = personSequence
        self.caseID = caseID
        self.appliedAt = appliedAt
    }
}

/// Asks whether an account was moved: what recovery does where no answer came.
public struct CheckRecovery: BusRequest {
    public typealias Reply = RecoveryChecked
    public static let type: MessageType = "auth.check-recovery"
    public static let schema = JSONSchema.object([.required("caseID", .uuid)])
    public static let rules = MessageRules(service: .auth, callers: [.recovery], effect: .read)

    public var caseID: Identifier
    public init(caseID: Identifier) { self.caseID = caseID }
}

/// The answer to ``CheckRecovery``.
public struct RecoveryChecked: BusReply {
    public static let schema = JSONSchema.object([.required("isApplied", .boolean)])
    /// False for a case that auth does not know, too.
    public var isApplied: Bool
    public init(isApplied: Bool) { self.isApplied = isApplied }
}
