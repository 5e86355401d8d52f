import BusProtocol
import EventLoop

extension RequestRecovery: MessageContract {
    static let canonical = RequestRecovery(
        accountPhone: "+14155552671", challengeId: Sample.challenge, code: "042917", device: Sample.phone,
        reason: "My phone was stolen.")
    static let minimal = RequestRecovery(
        challengeId: Sample.challenge, code: "000000", device: Sample.smallDevice)
    static let maximal = RequestRecovery(
        accountPhone: String(repeating: "\u{664}", count: 64), accountEmail: String(repeating: "ö", count: 254),
        challengeId: Sample.challenge, code: "999999", device: Sample.fullDevice,
        reason: String(repeating: "ö", count: 500), identity: Sample.fullIdentity)

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
        Sample.claimantHasAccount, Sample.identityTokenInvalid, Sample.identityProviderUnavailable,
        Sample.methodNotAvailable, Sample.accountNotNamed,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<RequestRecovery> {
        recovery.claim(code: recovery.newCode())
    }

    static let provocations: [String: Provocation<RecoveryProvider, RequestRecovery>] = [
        "invalid_phone": { $0.claim(code: "481516", phone: RecoveryProvider.invalidPhone) },
        "otp_invalid": { $0.claim(code: "111111") },
        "otp_expired": { $0.claim(code: "222222") },
        "otp_locked": { $0.claim(code: "333333") },
        "claimant_has_account": { $0.claim(code: "444444") },
        "identity_token_invalid": { $0.claim(code: "111112") },
        "identity_provider_unavailable": { $0.claim(code: "111113") },
        "method_not_available": { $0.claim(code: "111114") },
        "validation_failed": { $0.claim(code: "111115") },
        "rate_limited": { recovery in
            for _ in 0..<3 {
                try await recovery.reply(to: recovery.claim(code: "623451"))
                // Close the case, because the next claim must not find it open.
                try await recovery.stage.rows(
                    "UPDATE cases SET status = 'expired', closed_at = now(), seen_closed_at = now() WHERE claimant_reference LIKE '%623451'"
                )
            }
            return recovery.claim(code: "623451")
        },
        "recovery_in_progress": { recovery in
            try await recovery.reply(to: recovery.claim(code: "734512"))
            return recovery.claim(code: "734512")
        },
    ]
}

extension RequestRecoveryV1: MessageContract {
    static let canonical = RequestRecoveryV1(
        accountPhone: "+14155552671", challengeId: Sample.challenge, code: "042917", device: Sample.phone,
        reason: "My phone was stolen.")
    static let minimal = RequestRecoveryV1(
        accountPhone: "1", challengeId: Sample.challenge, code: "000000", device: Sample.smallDevice)
    static let maximal = RequestRecoveryV1(
        accountPhone: String(repeating: "\u{664}", count: 64), challengeId: Sample.challenge, code: "999999",
        device: Sample.fullDevice, reason: String(repeating: "ö", count: 500))

    static let canonicalReply = RequestRecovery.canonicalReply
    static let minimalReply = RequestRecovery.minimalReply
    static let maximalReply = RequestRecovery.maximalReply

    static let errors = RequestRecovery.errors.filter { $0.code != "validation_failed" }

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<RequestRecoveryV1> {
        first(try await RequestRecovery.everyday(recovery))
    }

    static let provocations: [String: Provocation<RecoveryProvider, RequestRecoveryV1>] =
        RequestRecovery.provocations.filter { $0.key != "validation_failed" }
        .mapValues { provoke in { first(try await provoke($0)) } }

    /// The same request in the first version.
    private static func first(_ asked: Asked<RequestRecovery>) -> Asked<RequestRecoveryV1> {
        let message = asked.message
        var first = Asked(
            RequestRecoveryV1(
                accountPhone: message.accountPhone ?? "", challengeId: message.challengeId, code: message.code,
                device: message.device, reason: message.reason, identity: message.identity), as: asked.caller)
        first.options = asked.options
        return first
    }
}

extension GetRecoveryCase: MessageContract {
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

    static let hasEffect = false
    static let clockMembers: Set<String> = ["remainingSeconds"]

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<GetRecoveryCase> {
        let held = try await recovery.heldCase().requested
        return Asked(GetRecoveryCase(recoveryId: held.recoveryId, recoveryToken: held.recoveryToken))
    }

    static let provocations: [String: Provocation<RecoveryProvider, GetRecoveryCase>] = [
        "unauthorized": { recovery in
            let held = try await recovery.heldCase().requested
            return Asked(GetRecoveryCase(recoveryId: held.recoveryId, recoveryToken: "rt_0123456789"))
        }
    ]
}

extension DisputeRecovery: MessageContract {
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

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<DisputeRecovery> {
        let held = try await recovery.heldCase()
        return Asked(
            DisputeRecovery(recoveryId: held.requested.recoveryId, disputeToken: held.disputeToken), key: "key-dispute")
    }

    static let provocations: [String: Provocation<RecoveryProvider, DisputeRecovery>] = [
        "unauthorized": { recovery in
            let id = try await recovery.heldCase().requested.recoveryId
            return Asked(DisputeRecovery(recoveryId: id, disputeToken: "dt_0123456789"))
        },
        "not_found": { recovery in
            let id = try await recovery.heldCase().requested.recoveryId
            return Asked(DisputeRecovery(recoveryId: id), for: .random())
        },
        "recovery_closed": { recovery in
            let held = try await recovery.heldCase()
            let id = held.requested.recoveryId
            try await recovery.stage.rows("UPDATE cases SET status = 'completing' WHERE id = '\(id)'")
            return Asked(DisputeRecovery(recoveryId: id, disputeToken: held.disputeToken))
        },
    ]
}

extension CancelRecovery: MessageContract {
    static let canonical = CancelRecovery(recoveryId: Sample.recovery, recoveryToken: "rt_51ab")
    static let minimal = CancelRecovery(recoveryId: Sample.recovery, recoveryToken: "r")
    static let maximal = CancelRecovery(
        recoveryId: Sample.recovery, recoveryToken: String(repeating: "r", count: 128))

    static let canonicalReply = RecoveryCancelled(status: "cancelled")
    static let minimalReply = RecoveryCancelled(status: "c")
    static let maximalReply = RecoveryCancelled(status: String(repeating: "c", count: 32))

    static let errors: [BusError] = [
        BusError(.unauthorized, "This is not a valid recovery token."),
        BusError(.recoveryClosed, "This recovery is over and cannot be withdrawn any more."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<CancelRecovery> {
        let held = try await recovery.heldCase().requested
        return Asked(
            CancelRecovery(recoveryId: held.recoveryId, recoveryToken: held.recoveryToken), key: "key-cancel")
    }

    static let provocations: [String: Provocation<RecoveryProvider, CancelRecovery>] = [
        "unauthorized": { recovery in
            let held = try await recovery.heldCase().requested
            return Asked(CancelRecovery(recoveryId: held.recoveryId, recoveryToken: "rt_0123456789"))
        },
        "recovery_closed": { recovery in
            let held = try await recovery.heldCase().requested
            try await recovery.stage.rows("UPDATE cases SET status = 'completing' WHERE id = '\(held.recoveryId)'")
            return Asked(CancelRecovery(recoveryId: held.recoveryId, recoveryToken: held.recoveryToken))
        },
    ]
}
