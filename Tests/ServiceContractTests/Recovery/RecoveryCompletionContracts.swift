import BusProtocol
import EventLoop

extension CompleteRecovery: MessageContract {
    static let canonical = CompleteRecovery(
        recoveryId: Sample.recovery, recoveryToken: "rt_51ab", challengeId: Sample.challenge, code: "042917",
        device: Sample.phone)
    static let minimal = CompleteRecovery(
        recoveryId: Sample.recovery, recoveryToken: "r", challengeId: Sample.challenge, code: "000000",
        device: Sample.smallDevice)
    static let maximal = CompleteRecovery(
        recoveryId: Sample.recovery, recoveryToken: String(repeating: "r", count: 128), challengeId: Sample.challenge,
        code: "999999", device: Sample.fullDevice)

    static let canonicalReply: Session = VerifyOTP.canonicalReply
    static let minimalReply: Session = VerifyOTP.minimalReply
    static let maximalReply: Session = VerifyOTP.maximalReply

    static let errors: [BusError] = [
        BusError(.unauthorized, "This is not a valid recovery token."), Sample.otpInvalid,
        BusError(.otpExpired, "Code expired. Request a new one.", executed: .yes), Sample.otpLocked,
        BusError(
            .recoveryNotReady, "This recovery is not approved yet. Please come back later.",
            retryAfter: .seconds(259_200)),
        BusError(.recoveryClosed, "This recovery is over."), Sample.claimantHasAccount,
        BusError(
            .requestInProgress, "Your recovery is being completed. Please try again in a moment.",
            retryAfter: .seconds(30)),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func complete(_ held: RecoveryRequested, code: String = "042917") -> Asked<CompleteRecovery> {
        var device = Sample.phone
        device.secret = held.deviceSecret
        return Asked(
            CompleteRecovery(
                recoveryId: held.recoveryId, recoveryToken: held.recoveryToken, challengeId: .ordered(), code: code,
                device: device), key: "key-complete-\(Identifier.random())")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<CompleteRecovery> {
        complete(try await recovery.approvedCase())
    }

    static let provocations: [String: Provocation<RecoveryProvider, CompleteRecovery>] = [
        "unauthorized": { recovery in
            var asked = try await everyday(recovery)
            asked.message.device.secret = "rd_0123456789"
            return asked
        },
        "otp_invalid": { complete(try await $0.approvedCase(), code: "111111") },
        "otp_expired": { complete(try await $0.approvedCase(), code: "222222") },
        "otp_locked": { complete(try await $0.approvedCase(), code: "333333") },
        "claimant_has_account": { complete(try await $0.approvedCase(), code: "444444") },
        "recovery_not_ready": { complete(try await $0.heldCase().requested) },
        "recovery_closed": { recovery in
            let approved = try await recovery.approvedCase()
            try await recovery.reply(to: Asked(DisputeRecovery(recoveryId: approved.recoveryId), for: recovery.owner))
            return complete(approved)
        },
        "request_in_progress": { recovery in
            let approved = try await recovery.approvedCase()
            try await recovery.stage.rows(
                "UPDATE cases SET status = 'completing' WHERE id = '\(approved.recoveryId)'")
            return complete(approved)
        },
    ]
}
