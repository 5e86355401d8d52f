import BusProtocol
import EventLoop
import TestSupport

extension SendOTP: MessageContract {
    static let canonical = SendOTP(phone: "+1 (415) 555-2671")
    static let minimal = SendOTP(phone: "1")
    static let maximal = SendOTP(
        phone: String(repeating: "\u{664}", count: 64),
        device: .init(id: Sample.device, secret: String(repeating: "s", count: 128)),
        linkToken: String(repeating: "l", count: 256), purpose: "change_phone")

    static let canonicalReply = OTPSent(
        challengeId: Sample.challenge, expiresInSeconds: 300, resendAfterSeconds: 60, maskedPhone: "+1 (***) ***-2671")
    static let minimalReply = OTPSent(
        challengeId: Sample.challenge, expiresInSeconds: 1, resendAfterSeconds: 0, maskedPhone: "+")
    static let maximalReply = OTPSent(
        challengeId: Sample.challenge, expiresInSeconds: 3600, resendAfterSeconds: 3600,
        maskedPhone: String(repeating: "•", count: 64))

    static let errors: [BusError] = [
        Sample.invalidPhone, Sample.rateLimited,
        BusError(
            .otpLocked, "Too many attempts. Try again in 15 minutes.", retryAfter: .seconds(900),
            details: Sample.alternatives),
        BusError(
            .validationFailed, "Some members of the request are missing or wrong.",
            errors: [.init(field: "linkToken", code: "not_allowed", message: "Only a sign-in can link an identity.")]),
        Sample.linkTokenExpired, Sample.unauthorized,
        BusError(.reauthenticationRequired, "Please sign in again to change your number."), Sample.frozen,
        BusError(.smsUnavailable, "Unable to send SMS. Try again?", retryAfter: .seconds(30)),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<SendOTP> {
        Asked(SendOTP(phone: auth.newPhone()), key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, SendOTP>] = [
        "invalid_phone": { Asked(SendOTP(phone: "+1 415 555"), key: $0.key()) },
        "rate_limited": { auth in
            Asked(SendOTP(phone: try await auth.challenge().phone), key: auth.key())
        },
        "otp_locked": { auth in
            let challenge = try await auth.challenge()
            for _ in 0..<3 {
                let guess = VerifyOTP(
                    challengeId: challenge.id, code: AuthProvider.wrong(challenge.code), device: Sample.phone)
                _ = try? await auth.reply(to: Asked(guess, key: auth.key()))
            }
            return Asked(SendOTP(phone: challenge.phone), key: auth.key())
        },
        "sms_unavailable": { auth in
            try await auth.breakSMS()
            return Asked(SendOTP(phone: auth.newPhone()), key: auth.key())
        },
        "validation_failed": {
            Asked(SendOTP(phone: $0.newPhone(), linkToken: "lk_0123456789", purpose: "recovery"), key: $0.key())
        },
        "link_token_expired": { Asked(SendOTP(phone: $0.newPhone(), linkToken: "lk_0123456789"), key: $0.key()) },
        "unauthorized": { Asked(SendOTP(phone: $0.newPhone(), purpose: "change_phone"), key: $0.key()) },
        "reauthentication_required": { auth in
            let session = try await auth.session()
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return changing(session, auth)
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let session = try await auth.session(phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return changing(session, auth)
        },
    ]
}

extension SendOTP {
    @Loop fileprivate static func changing(_ session: Session, _ auth: AuthProvider) -> Asked<SendOTP> {
        Asked(
            SendOTP(phone: auth.newPhone(), purpose: "change_phone"), for: session.user.id, in: session.sessionId,
            key: auth.key())
    }
}

extension VerifyOTP: MessageContract {
    static let canonical = VerifyOTP(challengeId: Sample.challenge, code: "042917", device: Sample.phone)
    static let minimal = VerifyOTP(challengeId: Sample.challenge, code: "000000", device: Sample.smallDevice)
    static let maximal = VerifyOTP(
        challengeId: Sample.challenge, code: "999999", device: Sample.fullDevice, confirmLink: true, newAccount: false,
        anonymousId: String(repeating: "å", count: 64))

    static let canonicalReply = Session(
        accessToken: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln", expiresInSeconds: 900, refreshToken: "rf_9d1c",
        sessionId: Sample.session, deviceId: Sample.device, deviceSecret: "ds_51ab", isNewUser: true,
        user: .init(id: Sample.person, onboardingStatus: "questionnaire_pending"))
    static let minimalReply = Session(
        accessToken: "a", expiresInSeconds: 1, refreshToken: "r", sessionId: Sample.session, deviceId: Sample.device,
        isNewUser: false, user: .init(id: Sample.person, onboardingStatus: nil))
    static let maximalReply = Session(
        accessToken: String(repeating: "a", count: 2048), expiresInSeconds: 86_400,
        refreshToken: String(repeating: "r", count: 128), sessionId: Sample.session, deviceId: Sample.device,
        deviceSecret: String(repeating: "d", count: 128), isNewUser: true,
        user: .init(id: Sample.person, onboardingStatus: String(repeating: "o", count: 32)))

    static let errors: [BusError] =
        [
            Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked,
            BusError(.forbidden, "This account is not available. Please contact support."),
            BusError(
                .linkConfirmationRequired,
                "This number has an account already. Confirm that Google is to open it from now on."),
            Sample.linkTokenExpired, BusError(.identityInUse, "This Google account is linked to another account."),
            BusError(.providerAlreadyLinked, "Another Google account is linked to yours. Unlink it first."),
            Sample.frozen,
            BusError(
                .recoveryRequired,
                "The account with this number was not used for a long time. Recover it, or begin a new one if it was never yours.",
                details: ["options": ["recover", "new_account"]]),
            BusError(
                .recoveryInProgress,
                "A recovery with this number is under way. Cancel it before you open a new account."),
            Sample.notOffered("a phone number"),
        ] + Sample.appErrors

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<VerifyOTP> {
        let challenge = try await auth.challenge()
        return Asked(
            VerifyOTP(challengeId: challenge.id, code: challenge.code, device: Sample.phone), key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, VerifyOTP>] = [
        "otp_invalid": { auth in
            let challenge = try await auth.challenge()
            return guess(challenge.id, AuthProvider.wrong(challenge.code), auth)
        },
        "otp_expired": { auth in
            let challenge = try await auth.challenge()
            try await auth.age("300 s")
            return guess(challenge.id, challenge.code, auth)
        },
        "otp_locked": { auth in
            let challenge = try await auth.challenge()
            let wrong = AuthProvider.wrong(challenge.code)
            for _ in 0..<2 { _ = try? await auth.reply(to: guess(challenge.id, wrong, auth)) }
            return guess(challenge.id, wrong, auth)
        },
        "method_not_available": { named(app: SignInRulesOfTests.closed, $0) },
        "app_unknown": { named(app: "pk_unknown", $0) },
        "entry_unknown": { named(entry: "autumn", $0) },
        "forbidden": { auth in
            let phone = auth.newPhone()
            let person = try await auth.session(phone: phone).user.id
            try await auth.age("2 minutes")
            try await auth.stage.rows("UPDATE accounts SET status = 'suspended' WHERE id = '\(person)'")
            let challenge = try await auth.challenge(for: phone)
            return guess(challenge.id, challenge.code, auth)
        },
        "recovery_required": { auth in
            let phone = auth.newPhone()
            let person = try await auth.session(phone: phone).user.id
            for (table, column) in [
                ("phones", "created_at"), ("devices", "last_used_at"), ("sessions", "last_used_at"),
            ] {
                try await auth.stage.rows(
                    "UPDATE \(table) SET \(column) = now() - interval '366 days' WHERE person_id = '\(person)'")
            }
            try await auth.age("2 minutes")
            let challenge = try await auth.challenge(for: phone)
            return guess(challenge.id, challenge.code, auth)
        },
        "recovery_in_progress": { auth in
            let claimant = auth.newPhone()
            _ = try await auth.reply(to: try await auth.claiming(by: claimant))
            try await auth.age("2 minutes")
            let challenge = try await auth.challenge(for: claimant)
            return guess(challenge.id, challenge.code, auth)
        },
        "link_confirmation_required": { auth in
            let phone = auth.newPhone()
            _ = try await auth.session(phone: phone)
            return try await linking(phone, subject: auth.key(), isConfirmed: false, auth)
        },
        "link_token_expired": { auth in
            let asked = try await linking(auth.newPhone(), subject: auth.key(), auth)
            try await auth.stage.rows("UPDATE link_tokens SET expires_at = now()")
            return asked
        },
        "identity_in_use": { auth in
            let subject = auth.key()
            let asked = try await linking(auth.newPhone(), subject: subject, auth)
            _ = try await auth.linked("google", subject: subject)
            return asked
        },
        "provider_already_linked": { auth in
            let phone = auth.newPhone()
            _ = try await auth.linked("google", subject: auth.key(), phone: phone)
            return try await linking(phone, subject: auth.key(), auth)
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            _ = try await auth.session(phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return try await linking(phone, subject: auth.key(), auth)
        },
    ]

    @Loop private static func named(app: String? = nil, entry: String? = nil, _ auth: AuthProvider) -> Asked<VerifyOTP>
    {
        Asked(
            VerifyOTP(challengeId: .ordered(), code: "000000", device: Sample.phone, app: app, entry: entry),
            key: auth.key())
    }

    /// A request that links an identity to a phone's account, with the right code.
    @Loop private static func linking(
        _ phone: String, subject: String, isConfirmed: Bool = true, _ auth: AuthProvider
    ) async throws -> Asked<VerifyOTP> {
        try await auth.age("2 minutes")
        let token = try await auth.linkToken("google", subject: subject)
        let challenge = try await auth.challenge(for: phone, linkToken: token)
        return Asked(
            VerifyOTP(
                challengeId: challenge.id, code: challenge.code, device: Sample.phone, confirmLink: isConfirmed),
            key: auth.key())
    }

    @Loop private static func guess(_ challenge: Identifier, _ code: String, _ auth: AuthProvider) -> Asked<VerifyOTP> {
        Asked(VerifyOTP(challengeId: challenge, code: code, device: Sample.phone), key: auth.key())
    }
}

extension GetCodeDelivery: MessageContract {
    static let canonical = GetCodeDelivery(challengeId: Sample.challenge)
    static let minimal: GetCodeDelivery = canonical
    static let maximal: GetCodeDelivery = canonical

    static let canonicalReply = CodeDelivery(delivery: "sent", resendAfterSeconds: 42, expiresInSeconds: 282)
    static let minimalReply = CodeDelivery(delivery: "failed", resendAfterSeconds: 0, expiresInSeconds: 0)
    static let maximalReply = CodeDelivery(delivery: "queued", resendAfterSeconds: 86_400, expiresInSeconds: 3600)

    static let errors: [BusError] = [BusError(.notFound, "There is no such code.")]

    static let hasEffect = false
    static let clockMembers: Set<String> = ["resendAfterSeconds", "expiresInSeconds"]

    static func everyday(_ auth: AuthProvider) async throws -> Asked<GetCodeDelivery> {
        let id = try await auth.challenge().id
        // The SMS is in the spool a moment before auth records it as sent.
        while try await auth.stage.rows("SELECT sent_at IS NULL FROM challenges WHERE id = '\(id)'") == "t" {
            try await Loop.sleep(for: .milliseconds(2))
        }
        return Asked(GetCodeDelivery(challengeId: id))
    }

    static let provocations: [String: Provocation<AuthProvider, GetCodeDelivery>] = [
        "not_found": { _ in Asked(GetCodeDelivery(challengeId: .ordered())) }
    ]
}
