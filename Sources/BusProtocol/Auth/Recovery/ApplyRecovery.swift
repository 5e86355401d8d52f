import JSONText

/// Moves an account to its claimant.
///
/// The account gets the claimant's number or email address and a session on the claimant's device. Every older session, device and push
/// token ends.
///
/// This happens once per case. A second request for the same case fails with `idempotency_answer_gone`. The code
/// belongs to a new challenge for the claimant's number or address, which was sent for a recovery.
///
/// Fails with `recovery_closed` if auth has no freeze for the case, and with `recovery_not_ready` before the hold is
/// over. Auth measures the hold itself.
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

    /// The recovery case.
    public var caseID: Identifier
    /// The new `recovery` challenge for the claimant's number.
    public var challengeID: Identifier
    /// The code that the claimant received.
    @Field(.otp) public var code: String
    /// The claimant's device.
    public var device: DeviceClaim
}

/// The account now belongs to the claimant.
@Message
public struct RecoveryMoved: BusReply {
    /// The claimant's session.
    public var session: Session
}

/// An account was moved to its claimant. If the reply to ``ApplyRecovery`` was lost, recovery completes its case on
/// this event.
@Message
public struct RecoveryApplied: BusEvent {
    public static let type: MessageType = "auth.recovery-applied"
    public static let rules = MessageRules(
        service: .recovery, callers: [.auth], effect: .idempotent, delivery: .untilTaken)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The recovery case.
    public var caseID: Identifier
    /// When the account was moved.
    public var appliedAt: Timestamp
}

/// Asks whether an account was moved. Recovery asks this if ``ApplyRecovery`` got no reply.
@Message
public struct CheckRecovery: BusRequest {
    public typealias Reply = RecoveryChecked
    public static let type: MessageType = "auth.check-recovery"
    public static let rules = MessageRules(service: .auth, callers: [.recovery], effect: .read)

    /// The recovery case.
    public var caseID: Identifier
}

/// The answer to ``CheckRecovery``.
@Message
public struct RecoveryChecked: BusReply {
    /// Whether the account was moved. It is false for a case that auth does not know.
    public var isApplied: Bool
}

/// Uses up a new code of a case's claimant, who proves with it that they still have the number or the email address.
///
/// The code belongs to a new `recovery` challenge for the claimant's number or address. The reply says nothing about the
/// account: it is the same if there is none. Fails with `recovery_closed` if auth does not know the case.
@Message
public struct CheckClaimant: BusRequest {
    public typealias Reply = ClaimantChecked
    public static let type: MessageType = "auth.check-claimant"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .once,
        errors: [.otpInvalid, .otpExpired, .otpLocked, .recoveryClosed])

    /// The recovery case.
    public var caseID: Identifier
    /// The new `recovery` challenge for the claimant's number or address.
    public var challengeID: Identifier
    /// The code that the claimant received.
    @Field(.otp) public var code: String
}

/// The code was right.
@Message
public struct ClaimantChecked: BusReply {
    /// When the code was used up.
    public var at: Timestamp
}
