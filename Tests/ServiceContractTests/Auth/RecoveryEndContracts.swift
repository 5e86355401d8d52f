import BusProtocol
import EventLoop

extension ApplyRecovery: MessageContract {
    static let canonical = ApplyRecovery(
        caseID: Sample.recovery, challengeID: Sample.challenge, code: "042917", device: Sample.phone)
    static let minimal = ApplyRecovery(
        caseID: Sample.recovery, challengeID: Sample.challenge, code: "000000", device: Sample.smallDevice)
    static let maximal = ApplyRecovery(
        caseID: Sample.recovery, challengeID: Sample.challenge, code: "999999", device: Sample.fullDevice)

    static let canonicalReply = RecoveryMoved(session: VerifyOTP.canonicalReply)
    static let minimalReply = RecoveryMoved(session: VerifyOTP.minimalReply)
    static let maximalReply = RecoveryMoved(session: VerifyOTP.maximalReply)

    static let errors: [BusError] = [
        Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked, BusError(.recoveryClosed, "This recovery is over."),
        BusError(
            .claimantHasAccount,
            "This number has an account of its own. Delete that account first, or claim with another number."),
        BusError(.idempotencyAnswerGone, "This recovery was completed. Please sign in with your number."),
        BusError(
            .recoveryNotReady, "The hold of this recovery is not over yet. Please come back later.",
            retryAfter: .seconds(259_200)),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ApplyRecovery> {
        let (claimant, phone) = (auth.newPhone(), auth.newPhone())
        _ = try await auth.session(phone: phone)
        return try await auth.applying(claimOf: phone, by: claimant)
    }

    static let provocations: [String: Provocation<AuthProvider, ApplyRecovery>] = [
        "otp_invalid": { auth in
            var asked = try await everyday(auth)
            asked.message.code = AuthProvider.wrong(asked.message.code)
            return asked
        },
        "otp_expired": { auth in
            let asked = try await everyday(auth)
            try await auth.age("300 s")
            return asked
        },
        "otp_locked": { auth in
            var asked = try await everyday(auth)
            asked.message.code = AuthProvider.wrong(asked.message.code)
            for _ in 0..<2 {
                _ = try? await auth.reply(to: asked)
                asked.options.idempotencyKey = auth.key()
            }
            return asked
        },
        "recovery_closed": { auth in
            var asked = try await everyday(auth)
            asked.message.caseID = .ordered()
            return asked
        },
        "claimant_has_account": { auth in
            let asked = try await everyday(auth)
            // The claimant's number has got an account in the meantime.
            try await auth.stage.rows(
                """
                INSERT INTO accounts (id) VALUES (gen_random_uuid());
                INSERT INTO phones (hash, key_id, person_id, sealed)
                    SELECT f.claimant_hash, 'k', a.id, '' FROM freezes f, accounts a
                    WHERE f.case_id = '\(asked.message.caseID)'
                        AND NOT EXISTS (SELECT 1 FROM phones p WHERE p.person_id = a.id);
                """)
            return asked
        },
        "idempotency_answer_gone": { auth in
            var asked = try await everyday(auth)
            try await auth.reply(to: asked)
            asked.options.idempotencyKey = auth.key()
            return asked
        },
        "recovery_not_ready": { auth in
            let asked = try await everyday(auth)
            try await auth.stage.rows(
                """
                UPDATE freezes SET hold_until = now() + interval '72 hours' WHERE case_id = '\(asked.message.caseID)'
                """)
            return asked
        },
    ]
}

extension CheckRecovery: MessageContract {
    static let canonical = CheckRecovery(caseID: Sample.recovery)
    static let minimal: CheckRecovery = canonical
    static let maximal: CheckRecovery = canonical

    static let canonicalReply = RecoveryChecked(isApplied: true)
    static let minimalReply = RecoveryChecked(isApplied: false)
    static let maximalReply = RecoveryChecked(isApplied: true)
    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<CheckRecovery> {
        Asked(CheckRecovery(caseID: try await auth.begunRecovery().caseID), as: .recovery)
    }

    static let provocations: [String: Provocation<AuthProvider, CheckRecovery>] = [:]
}

extension RecoveryApplied: MessageContract {
    static let canonical = RecoveryApplied(
        personID: Sample.person, personSequence: 4, caseID: Sample.recovery, appliedAt: Sample.everyday)
    static let minimal = RecoveryApplied(
        personID: Sample.person, caseID: Sample.recovery, appliedAt: Sample.earliest)
    static let maximal = RecoveryApplied(
        personID: Sample.person, personSequence: Sample.largestInteger, caseID: Sample.recovery,
        appliedAt: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<RecoveryApplied> {
        // An attempt whose reply was lost.
        let approved = try await recovery.approvedCase()
        try await recovery.stage.rows(
            "UPDATE cases SET status = 'completing' WHERE id = '\(approved.recoveryId)'")
        return Asked(
            RecoveryApplied(
                personID: recovery.owner, personSequence: 1, caseID: approved.recoveryId, appliedAt: .now()), as: .auth)
    }

    static let provocations: [String: Provocation<RecoveryProvider, RecoveryApplied>] = [:]
}

extension CheckClaimant: MessageContract {
    static let canonical = CheckClaimant(caseID: Sample.recovery, challengeID: Sample.challenge, code: "042917")
    static let minimal = CheckClaimant(caseID: Sample.recovery, challengeID: Sample.challenge, code: "000000")
    static let maximal = CheckClaimant(caseID: Sample.recovery, challengeID: Sample.challenge, code: "999999")

    static let canonicalReply = ClaimantChecked(at: Sample.everyday)
    static let minimalReply = ClaimantChecked(at: Sample.earliest)
    static let maximalReply = ClaimantChecked(at: Sample.latest)

    static let errors: [BusError] = [
        Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked, BusError(.recoveryClosed, "This recovery is over."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    /// The claimed number has no account. Auth must handle it in the same way.
    static func everyday(_ auth: AuthProvider) async throws -> Asked<CheckClaimant> {
        let applying = try await auth.applying(claimOf: auth.newPhone(), by: auth.newPhone()).message
        return Asked(
            CheckClaimant(caseID: applying.caseID, challengeID: applying.challengeID, code: applying.code),
            as: .recovery, key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, CheckClaimant>] = [
        "otp_invalid": { auth in
            var asked = try await everyday(auth)
            asked.message.code = AuthProvider.wrong(asked.message.code)
            return asked
        },
        "otp_expired": { auth in
            // The code of another claimant.
            var asked = try await everyday(auth)
            asked.message.caseID = try await everyday(auth).message.caseID
            return asked
        },
        "otp_locked": { auth in
            var asked = try await everyday(auth)
            asked.message.code = AuthProvider.wrong(asked.message.code)
            for _ in 0..<2 {
                _ = try? await auth.reply(to: asked)
                asked.options.idempotencyKey = auth.key()
            }
            return asked
        },
        "recovery_closed": { auth in
            var asked = try await everyday(auth)
            asked.message.caseID = .ordered()
            return asked
        },
    ]
}
