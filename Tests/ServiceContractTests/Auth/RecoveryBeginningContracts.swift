import BusProtocol
import EventLoop

extension BeginRecovery: MessageContract {
    static let canonical = BeginRecovery(
        caseID: Sample.recovery, accountPhone: "+14155552671", challengeID: Sample.challenge, code: "042917",
        device: Sample.phone, freezeSeconds: 1_468_800)
    static let minimal = BeginRecovery(
        caseID: Sample.recovery, challengeID: Sample.challenge, code: "000000", device: Sample.smallDevice,
        freezeSeconds: 1)
    static let maximal = BeginRecovery(
        caseID: Sample.recovery, accountPhone: String(repeating: "\u{664}", count: 64),
        accountEmail: String(repeating: "ö", count: 254), challengeID: Sample.challenge, code: "999999",
        device: Sample.fullDevice, freezeSeconds: 7_776_000, identity: Sample.fullIdentity)

    static let canonicalReply = RecoveryBegun(
        caseID: Sample.recovery, accountID: Sample.person, accountReference: "b64-of-account",
        claimantReference: "b64-of-claimant", maskedClaimantPhone: "+1 (***) ***-0199")
    /// No account has the number.
    static let minimalReply = RecoveryBegun(
        caseID: Sample.recovery, accountID: nil, accountReference: "a", claimantReference: "c", maskedClaimantPhone: "+"
    )
    static let maximalReply = RecoveryBegun(
        caseID: Sample.recovery, accountID: Sample.person, accountReference: String(repeating: "a", count: 128),
        claimantReference: String(repeating: "c", count: 128), maskedClaimantPhone: String(repeating: "•", count: 64))

    static let errors: [BusError] = [
        Sample.invalidPhone, Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked, Sample.claimantHasAccount,
        Sample.identityTokenInvalid, Sample.identityProviderUnavailable, Sample.methodNotAvailable,
        Sample.accountNotNamed,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<BeginRecovery> {
        try await auth.claim(of: try await auth.challenge().phone)
    }

    static let provocations: [String: Provocation<AuthProvider, BeginRecovery>] = [
        "invalid_phone": { try await $0.claim(of: "+1 415 555") },
        "validation_failed": { auth in
            var asked = try await auth.claim(of: auth.newPhone())
            asked.message.accountPhone = nil
            return asked
        },
        "otp_invalid": { auth in
            var asked = try await auth.claim(of: auth.newPhone())
            asked.message.code = AuthProvider.wrong(asked.message.code)
            return asked
        },
        "claimant_has_account": { auth in
            let own = auth.newPhone()
            _ = try await auth.session(phone: own)
            try await auth.age("2 minutes")
            let challenge = try await auth.challenge(for: own, purpose: "recovery")
            var asked = try await auth.claim(of: auth.newPhone())
            (asked.message.challengeID, asked.message.code) = (challenge.id, challenge.code)
            return asked
        },
        "identity_token_invalid": { auth in
            var asked = try await auth.claim(of: auth.newPhone())
            asked.message.identity = IdentityProof(provider: "google", identityToken: "x", nonce: "nc_9d1c")
            return asked
        },
        "identity_provider_unavailable": { auth in
            var asked = try await auth.claim(of: auth.newPhone())
            let token = auth.forge.token("google", subject: "1", nonce: "nc_9d1c")
            asked.message.identity = IdentityProof(provider: "google", identityToken: token, nonce: "nc_9d1c")
            try await auth.loseProvidersKeys()
            return asked
        },
        "method_not_available": { auth in
            var asked = try await auth.claim(of: auth.newPhone())
            asked.message.identity = IdentityProof(provider: "google", identityToken: "x", nonce: "nc_9d1c")
            try await auth.serveNoProvider()
            return asked
        },
        "otp_expired": { auth in
            let asked = try await auth.claim(of: auth.newPhone())
            try await auth.age("300 s")
            return asked
        },
        "otp_locked": { auth in
            var asked = try await auth.claim(of: auth.newPhone())
            asked.message.code = AuthProvider.wrong(asked.message.code)
            for _ in 0..<2 {
                _ = try? await auth.reply(to: asked)
                // Make a new claim, because a repeat of the same claim gets the same reply.
                asked.message.caseID = .ordered()
            }
            return asked
        },
    ]
}

extension BeginRecoveryV1: MessageContract {
    static let canonical = BeginRecoveryV1(
        caseID: Sample.recovery, accountPhone: "+14155552671", challengeID: Sample.challenge, code: "042917",
        device: Sample.phone, freezeSeconds: 1_468_800)
    static let minimal = BeginRecoveryV1(
        caseID: Sample.recovery, accountPhone: "1", challengeID: Sample.challenge, code: "000000",
        device: Sample.smallDevice, freezeSeconds: 1)
    static let maximal = BeginRecoveryV1(
        caseID: Sample.recovery, accountPhone: String(repeating: "\u{664}", count: 64), challengeID: Sample.challenge,
        code: "999999", device: Sample.fullDevice, freezeSeconds: 7_776_000)

    static let canonicalReply = BeginRecovery.canonicalReply
    static let minimalReply = BeginRecovery.minimalReply
    static let maximalReply = BeginRecovery.maximalReply

    static let errors = BeginRecovery.errors.filter { $0.code != "validation_failed" }

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<BeginRecoveryV1> {
        first(try await BeginRecovery.everyday(auth))
    }

    static let provocations: [String: Provocation<AuthProvider, BeginRecoveryV1>] =
        BeginRecovery.provocations.filter { $0.key != "validation_failed" }
        .mapValues { provoke in { first(try await provoke($0)) } }

    /// The same request in the first version.
    private static func first(_ asked: Asked<BeginRecovery>) -> Asked<BeginRecoveryV1> {
        let message = asked.message
        var first = Asked(
            BeginRecoveryV1(
                caseID: message.caseID, accountPhone: message.accountPhone ?? "", challengeID: message.challengeID,
                code: message.code, device: message.device, freezeSeconds: message.freezeSeconds,
                identity: message.identity), as: asked.caller)
        first.options = asked.options
        return first
    }
}

extension RecoveryBegan: MessageContract {
    static let canonical = RecoveryBegan(
        personID: Sample.person, personSequence: 2, begun: BeginRecovery.canonicalReply)
    /// The event about a decoy has the case ID in place of a person's ID.
    static let minimal = RecoveryBegan(personID: Sample.recovery, begun: BeginRecovery.minimalReply)
    static let maximal = RecoveryBegan(
        personID: Sample.person, personSequence: Sample.largestInteger, begun: BeginRecovery.maximalReply)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<RecoveryBegan> {
        // A claim whose reply was lost, by a new claimant each time.
        let claimant = Identifier.random().description
        let begun = RecoveryProvider.begun(case: .ordered(), claimant: claimant, owner: recovery.owner)
        let sequence = try await recovery.stage.rows("SELECT count(*) + 1 FROM cases")
        return Asked(
            RecoveryBegan(personID: recovery.owner, personSequence: Int64(sequence) ?? 1, begun: begun), as: .auth)
    }

    static let provocations: [String: Provocation<RecoveryProvider, RecoveryBegan>] = [:]
}
