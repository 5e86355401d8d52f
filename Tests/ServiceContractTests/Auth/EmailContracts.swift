import BusProtocol
import EventLoop
import TestSupport

extension SendEmailCode: MessageContract {
    static let canonical = SendEmailCode(email: "anna@example.com")
    static let minimal = SendEmailCode(email: "a")
    static let maximal = SendEmailCode(
        email: String(repeating: "ö", count: 254),
        device: .init(id: Sample.device, secret: String(repeating: "s", count: 128)), purpose: "link_email",
        replaces: Sample.challenge)

    static let canonicalReply = EmailCodeSent(
        challengeId: Sample.challenge, expiresInSeconds: 300, resendAfterSeconds: 60, maskedEmail: "a…@e…")
    static let minimalReply = EmailCodeSent(
        challengeId: Sample.challenge, expiresInSeconds: 1, resendAfterSeconds: 0, maskedEmail: "…")
    static let maximalReply = EmailCodeSent(
        challengeId: Sample.challenge, expiresInSeconds: 3600, resendAfterSeconds: 3600,
        maskedEmail: String(repeating: "…", count: 16))

    static let errors: [BusError] = [
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "email", code: "malformed", message: "Please enter a valid email address.")]),
        Sample.rateLimited,
        BusError(
            .otpLocked, "Too many attempts. Try again in 15 minutes.", retryAfter: .seconds(900),
            details: Sample.alternatives),
        Sample.unauthorized,
        BusError(.reauthenticationRequired, "Please sign in again to link your email address."), Sample.frozen,
        BusError(.emailUnavailable, "Unable to send email. Try again?", retryAfter: .seconds(30)),
        // This one comes last, since its provocation replaces the replica.
        Sample.notOffered("an email address"),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<SendEmailCode> {
        Asked(SendEmailCode(email: auth.newEmail()), key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, SendEmailCode>] = [
        "validation_failed": { Asked(SendEmailCode(email: "anna@example"), key: $0.key()) },
        "rate_limited": { auth in
            Asked(SendEmailCode(email: try await auth.emailChallenge().email), key: auth.key())
        },
        "otp_locked": { auth in
            let challenge = try await auth.emailChallenge()
            for _ in 0..<3 {
                let guess = VerifyEmailCode(
                    challengeId: challenge.id, code: AuthProvider.wrong(challenge.code), device: Sample.phone)
                _ = try? await auth.reply(to: Asked(guess, key: auth.key()))
            }
            return Asked(SendEmailCode(email: challenge.email), key: auth.key())
        },
        "unauthorized": { Asked(SendEmailCode(email: $0.newEmail(), purpose: "link_email"), key: $0.key()) },
        "reauthentication_required": { auth in
            let session = try await auth.session()
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return linking(session, auth)
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let session = try await auth.session(phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return linking(session, auth)
        },
        "method_not_available": { auth in
            try await auth.serveNoEmail()
            return Asked(canonical, key: auth.key())
        },
        "email_unavailable": { auth in
            try await auth.breakEmail()
            return Asked(SendEmailCode(email: auth.newEmail()), key: auth.key())
        },
    ]

    @Loop private static func linking(_ session: Session, _ auth: AuthProvider) -> Asked<SendEmailCode> {
        Asked(
            SendEmailCode(email: auth.newEmail(), purpose: "link_email"), for: session.user.id, in: session.sessionId,
            key: auth.key())
    }
}

extension VerifyEmailCode: MessageContract {
    static let canonical = VerifyEmailCode(challengeId: Sample.challenge, code: "042917", device: Sample.phone)
    static let minimal = VerifyEmailCode(challengeId: Sample.challenge, code: "000000", device: Sample.smallDevice)
    static let maximal = VerifyEmailCode(
        challengeId: Sample.challenge, code: "999999", device: Sample.fullDevice,
        anonymousId: String(repeating: "å", count: 64), app: String(repeating: "a", count: 64),
        entry: String(repeating: "e", count: 64))

    static let canonicalReply: SocialSignedIn = .session(VerifyOTP.canonicalReply)
    static let minimalReply: SocialSignedIn = .phoneVerificationRequired(
        .init(linkToken: "lk_51ab", expiresInSeconds: 600))
    static let maximalReply: SocialSignedIn = .session(VerifyOTP.maximalReply)

    static let errors: [BusError] =
        [
            Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked,
            BusError(.forbidden, "This account is not available. Please contact support."),
            Sample.notOffered("an email address"),
        ] + Sample.appErrors + [
            BusError(
                .recoveryInProgress,
                "A recovery with this email address is under way. Cancel it before you open a new account.")
        ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<VerifyEmailCode> {
        let challenge = try await auth.emailChallenge()
        return guess(challenge.id, challenge.code, auth)
    }

    static let provocations: [String: Provocation<AuthProvider, VerifyEmailCode>] = [
        "recovery_in_progress": { auth in
            let email = auth.newEmail()
            let known = auth.spool.codes(for: email).count
            let sent = try await auth.reply(
                to: Asked(SendEmailCode(email: email, recovery: .init()), key: auth.key()))
            let begin = BeginRecovery(
                caseID: .ordered(), accountEmail: auth.newEmail(), challengeID: sent.challengeId,
                code: try await auth.spool.code(for: email, after: known), device: Sample.phone,
                freezeSeconds: 1_468_800)
            try await auth.reply(to: Asked(begin, as: .recovery))
            try await auth.age("2 minutes")
            let challenge = try await auth.emailChallenge(for: email)
            return guess(challenge.id, challenge.code, auth)
        },
        "otp_invalid": { auth in
            let challenge = try await auth.emailChallenge()
            return guess(challenge.id, AuthProvider.wrong(challenge.code), auth)
        },
        "otp_expired": { auth in
            let challenge = try await auth.emailChallenge()
            try await auth.age("300 s")
            return guess(challenge.id, challenge.code, auth)
        },
        "otp_locked": { auth in
            let challenge = try await auth.emailChallenge()
            let wrong = AuthProvider.wrong(challenge.code)
            for _ in 0..<2 { _ = try? await auth.reply(to: guess(challenge.id, wrong, auth)) }
            return guess(challenge.id, wrong, auth)
        },
        "method_not_available": { auth in
            // The code is right, and the refusal does not use it up.
            let challenge = try await auth.emailChallenge()
            var asked = guess(challenge.id, challenge.code, auth)
            asked.message.app = SignInRulesOfTests.closed
            return asked
        },
        "app_unknown": { named(app: "pk_unknown", $0) },
        "entry_unknown": { named(entry: "autumn", $0) },
        "forbidden": { auth in
            let challenge = try await auth.emailChallenge()
            _ = try await auth.reply(to: guess(challenge.id, challenge.code, auth))
            try await auth.age("2 minutes")
            try await auth.stage.rows("UPDATE accounts SET status = 'suspended'")
            let next = try await auth.emailChallenge(for: challenge.email)
            return guess(next.id, next.code, auth)
        },
    ]

    @Loop private static func named(
        app: String? = nil, entry: String? = nil, _ auth: AuthProvider
    ) -> Asked<VerifyEmailCode> {
        Asked(
            VerifyEmailCode(
                challengeId: .ordered(), code: "000000", device: Sample.phone, app: app, entry: entry),
            key: auth.key())
    }

    @Loop private static func guess(
        _ challenge: Identifier, _ code: String, _ auth: AuthProvider
    ) -> Asked<VerifyEmailCode> {
        Asked(
            VerifyEmailCode(challengeId: challenge, code: code, device: Sample.phone, app: SignInRulesOfTests.free),
            key: auth.key())
    }
}

extension LinkEmail: MessageContract {
    static let canonical = LinkEmail(challengeId: Sample.challenge, code: "042917")
    static let minimal = LinkEmail(challengeId: Sample.challenge, code: "000000")
    static let maximal = LinkEmail(challengeId: Sample.challenge, code: "999999")

    static let canonicalReply = EmailLinked(maskedEmail: "a…@e…")
    static let minimalReply = EmailLinked(maskedEmail: "…")
    static let maximalReply = EmailLinked(maskedEmail: String(repeating: "…", count: 16))

    static let errors: [BusError] = [
        Sample.unauthorized, Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked,
        BusError(.reauthenticationRequired, "Please sign in again to link your email address."), Sample.frozen,
        BusError(.identityInUse, "This email address opens another account."),
        BusError(.providerAlreadyLinked, "Another email address is linked to yours. Unlink it first."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<LinkEmail> {
        try await asked(try await auth.session(), auth)
    }

    @Loop private static func asked(
        _ session: Session, email: String? = nil, isWrong: Bool = false, _ auth: AuthProvider
    ) async throws -> Asked<LinkEmail> {
        let challenge = try await auth.linkingEmail(session, email)
        let code = isWrong ? AuthProvider.wrong(challenge.code) : challenge.code
        return Asked(
            LinkEmail(challengeId: challenge.id, code: code), for: session.user.id, in: session.sessionId,
            key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, LinkEmail>] = [
        "unauthorized": { auth in
            let session = try await auth.session()
            let asked = try await asked(session, auth)
            try await auth.stage.rows("UPDATE sessions SET revoked_at = now() WHERE id = '\(session.sessionId)'")
            return asked
        },
        "otp_invalid": { try await asked(try await $0.session(), isWrong: true, $0) },
        "otp_expired": { auth in
            // The challenge belongs to another session.
            let other = try await asked(try await auth.session(), auth)
            let session = try await auth.session()
            return Asked(other.message, for: session.user.id, in: session.sessionId, key: auth.key())
        },
        "otp_locked": { auth in
            let asked = try await asked(try await auth.session(), isWrong: true, auth)
            for _ in 0..<2 {
                var again = asked
                again.options.idempotencyKey = auth.key()
                _ = try? await auth.reply(to: again)
            }
            return asked
        },
        "reauthentication_required": { auth in
            let asked = try await asked(try await auth.session(), auth)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return asked
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let asked = try await asked(try await auth.session(phone: phone), auth)
            try await auth.reply(to: try await auth.claim(of: phone))
            return asked
        },
        "identity_in_use": { auth in
            let owned = try await auth.emailChallenge()
            _ = try await auth.reply(
                to: Asked(
                    VerifyEmailCode(
                        challengeId: owned.id, code: owned.code, device: Sample.phone, app: SignInRulesOfTests.free),
                    key: auth.key()))
            try await auth.age("2 minutes")
            return try await asked(try await auth.session(), email: owned.email, auth)
        },
        "provider_already_linked": { auth in
            let session = try await auth.session()
            try await auth.reply(to: try await asked(session, auth))
            return try await asked(session, auth)
        },
    ]
}

extension UnlinkEmail: MessageContract {
    static let canonical = UnlinkEmail()
    static let minimal = UnlinkEmail()
    static let maximal = UnlinkEmail()

    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()

    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(.reauthenticationRequired, "Please sign in again to unlink your email address."), Sample.frozen,
        BusError(.lastWayIn, "Your email address is the only way into your account. Add a phone number first."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<UnlinkEmail> {
        let session = try await auth.session()
        let challenge = try await auth.linkingEmail(session)
        try await auth.reply(
            to: Asked(
                LinkEmail(challengeId: challenge.id, code: challenge.code), for: session.user.id,
                in: session.sessionId, key: auth.key()))
        return asked(session)
    }

    @Loop private static func asked(_ session: Session) -> Asked<UnlinkEmail> {
        Asked(canonical, for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, UnlinkEmail>] = [
        "unauthorized": { _ in Asked(canonical) },
        "reauthentication_required": { auth in
            let asked = asked(try await auth.session())
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return asked
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let asked = asked(try await auth.session(phone: phone))
            try await auth.reply(to: try await auth.claim(of: phone))
            return asked
        },
        "last_way_in": { auth in
            let challenge = try await auth.emailChallenge()
            let verify = VerifyEmailCode(
                challengeId: challenge.id, code: challenge.code, device: Sample.phone, app: SignInRulesOfTests.free)
            guard case .session(let session) = try await auth.reply(to: Asked(verify, key: auth.key())) else {
                throw BusError(.internalError, "A phone is wanted.")
            }
            return asked(session)
        },
    ]
}
