import BusProtocol

enum RequestRecoveryContract: MessageContract {
    static let canonical = RequestRecovery(
        accountPhone: "+14155552671", challengeId: Sample.challenge, code: "042917", device: Sample.phone,
        reason: "My phone was stolen.")
    static let minimal = RequestRecovery(
        accountPhone: "1", challengeId: Sample.challenge, code: "000000", device: Sample.smallDevice)
    static let maximal = RequestRecovery(
        accountPhone: String(repeating: "\u{664}", count: 64), challengeId: Sample.challenge, code: "999999",
        device: Sample.fullDevice, reason: String(repeating: "ö", count: 500))

    static let canonicalReply = RecoveryRequested(
        recoveryId: Sample.recovery, recoveryToken: "rt_51ab", status: "held", holdUntil: Sample.everyday)
    static let minimalReply = RecoveryRequested(
        recoveryId: Sample.recovery, recoveryToken: "r", status: "h", holdUntil: Sample.earliest)
    static let maximalReply = RecoveryRequested(
        recoveryId: Sample.recovery, recoveryToken: String(repeating: "r", count: 128),
        status: String(repeating: "h", count: 32), holdUntil: Sample.latest)

    static let errors: [BusError] = [
        Sample.invalidPhone, Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked,
        BusError(.rateLimited, "Please wait 2592000 seconds before retrying", retryAfter: .seconds(2_592_000)),
        BusError(.recoveryInProgress, "Your recovery is under way already.", executed: .yes),
    ]
}

enum GetRecoveryCaseContract: MessageContract {
    static let canonical = GetRecoveryCase(recoveryId: Sample.recovery, recoveryToken: "rt_51ab")
    static let minimal = GetRecoveryCase(recoveryId: Sample.recovery, recoveryToken: "r")
    static let maximal = GetRecoveryCase(
        recoveryId: Sample.recovery, recoveryToken: String(repeating: "r", count: 128))

    static let canonicalReply = RecoveryCaseView(
        status: "held", requestedAt: Sample.everyday, holdUntil: Sample.everyday + .seconds(259_200),
        remainingSeconds: 259_200,
        steps: [
            RecoveryStep(key: "hold", state: "current"), RecoveryStep(key: "identity", state: "pending"),
            RecoveryStep(key: "review", state: "pending"), RecoveryStep(key: "complete", state: "pending"),
        ])
    static let minimalReply = RecoveryCaseView(
        status: "h", requestedAt: Sample.earliest, holdUntil: Sample.earliest, remainingSeconds: 0,
        steps: [RecoveryStep(key: "hold", state: "done")])
    static let maximalReply = RecoveryCaseView(
        status: String(repeating: "h", count: 32), requestedAt: Sample.latest, holdUntil: Sample.latest,
        remainingSeconds: 1_209_600, steps: (0..<8).map { _ in RecoveryStep(key: "identity", state: "current") })

    static let errors: [BusError] = [BusError(.unauthorized, "This is not a valid recovery token.")]
}

enum DisputeRecoveryContract: MessageContract {
    static let canonical = DisputeRecovery(recoveryId: Sample.recovery, disputeToken: "dt_51ab")
    static let minimal = DisputeRecovery(recoveryId: Sample.recovery)
    static let maximal = DisputeRecovery(
        recoveryId: Sample.recovery, disputeToken: String(repeating: "d", count: 128))

    static let canonicalReply = RecoveryDisputed(status: "disputed")
    static let minimalReply = RecoveryDisputed(status: "d")
    static let maximalReply = RecoveryDisputed(status: String(repeating: "d", count: 32))

    static let errors: [BusError] = [
        BusError(.unauthorized, "This is not a valid dispute token."),
        BusError(.notFound, "There is no such recovery."),
        BusError(.recoveryClosed, "This recovery is over and cannot be disputed any more."),
    ]
}
