import JSONText

/// Moves an account to its claimant: the number, a session on the claimant's device, and an end to every older session, device
/// and push token. Once for each case; asked again for a case that was applied, it fails with `idempotency_answer_gone`.
///
/// The code is of a new `recovery` challenge for the number that claimed. `recovery_closed` where auth has no freeze for the
/// case; `recovery_not_ready` before the hold is over, which auth counts itself.
@Message
public struct ApplyRecovery: BusRequest {
    public typealias Reply = RecoveryMoved
    public static let type: MessageType = "auth.apply-recovery"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .once,
        errors: [
            .otpInvalid, .otpExpired, .otpLocked, .recoveryClosed, .claimantHasAccount, .idempotencyAnswerGone,
            .recoveryNotReady,
        ],
        replyCarriesToken: true)

    public var caseID: Identifier
    public var challengeID: Identifier
    @Field(.otp) public var code: String
    public var device: DeviceClaim
}

/// The account is the claimant's.
@Message
public struct RecoveryMoved: BusReply {
    public var session: Session
}

/// An account was moved to its claimant. Recovery ends its case by this event where the reply to ``ApplyRecovery`` was lost.
@Message
public struct RecoveryApplied: BusEvent {
    public static let type: MessageType = "auth.recovery-applied"
    public static let rules = MessageRules(
        service: .recovery, callers: [.auth], effect: .idempotent, delivery: .untilTaken)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var caseID: Identifier
    public var appliedAt: Timestamp
}

/// Asks whether an account was moved: what recovery does where no answer came.
@Message
public struct CheckRecovery: BusRequest {
    public typealias Reply = RecoveryChecked
    public static let type: MessageType = "auth.check-recovery"
    public static let rules = MessageRules(service: .auth, callers: [.recovery], effect: .read)

    public var caseID: Identifier
}

/// The answer to ``CheckRecovery``.
@Message
public struct RecoveryChecked: BusReply {
    /// False for a case that auth does not know, too.
    public var isApplied: Bool
}
