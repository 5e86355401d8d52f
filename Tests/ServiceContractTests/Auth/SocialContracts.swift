import BusProtocol
import EventLoop
import TestSupport

/// Values that the contracts of identities share.
private enum Social {
    static let invalid = BusError(
        .identityTokenInvalid, "Apple did not confirm this sign-in. Please try again.")
    static let unavailable = BusError(
        .identityProviderUnavailable, "Signing in with Apple is not available right now.", retryAfter: .seconds(30))
    static let notOffered = BusError(
        .methodNotAvailable, "Signing in with Apple is not offered here. Please choose another way.")
    static let forbidden = BusError(
        .forbidden, "This account is not available. Please contact support.", executed: .yes)
    static let phoneRequired = SocialSignedIn.phoneVerificationRequired(
        .init(linkToken: "lk_51ab", expiresInSeconds: 600))
}

extension GetAuthMethods: MessageContract {
    static let canonical = GetAuthMethods()
    static let minimal = GetAuthMethods()
    static let maximal = GetAuthMethods(app: String(repeating: "a", count: 64))

    static let canonicalReply = AuthMethods(methods: [
        AuthMethod(
            key: "phone", proof: "code", codeLength: 6, expiresInSeconds: 300, resendAfterSeconds: 60,
            countries: ["DE", "SE"]),
        AuthMethod(key: "apple", proof: "identity_token"),
    ])
    static let minimalReply = AuthMethods(methods: [])
    static let maximalReply = AuthMethods(methods: [
        AuthMethod(
            key: String(repeating: "k", count: 32), proof: String(repeating: "p", count: 32), codeLength: 16,
            expiresInSeconds: 3600, resendAfterSeconds: 3600, countries: ["AC", "XK"])
    ])

    static let errors: [BusError] = [BusError(.appUnknown, "There is no such app.")]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<GetAuthMethods> { Asked(canonical) }

    static let provocations: [String: Provocation<AuthProvider, GetAuthMethods>] = [
        "app_unknown": { _ in Asked(GetAuthMethods(app: "pk_unknown")) }
    ]
}

extension IssueSocialNonce: MessageContract {
    static let canonical = IssueSocialNonce(provider: "apple")
    static let minimal: IssueSocialNonce = canonical
    static let maximal = IssueSocialNonce(provider: "google")

    static let canonicalReply = SocialNonce(nonce: "nc_9d1c", expiresInSeconds: 300)
    static let minimalReply = SocialNonce(nonce: "n", expiresInSeconds: 1)
    static let maximalReply = SocialNonce(nonce: String(repeating: "n", count: 128), expiresInSeconds: 3600)

    static let errors: [BusError] = [Social.unavailable, Social.notOffered]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<IssueSocialNonce> {
        Asked(canonical, key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, IssueSocialNonce>] = [
        "identity_provider_unavailable": { auth in
            try await auth.loseProvidersKeys()
            return Asked(canonical, key: auth.key())
        },
        "method_not_available": { auth in
            try await auth.serveNoProvider()
            return Asked(canonical, key: auth.key())
        },
    ]
}

extension SignInWithApple: MessageContract {
    static let canonical = SignInWithApple(
        identityToken: "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", nonce: "nc_9d1c", device: Sample.phone,
        authorizationCode: "c0de")
    static let minimal = SignInWithApple(identityToken: "e", nonce: "n", device: Sample.smallDevice)
    static let maximal = SignInWithApple(
        identityToken: String(repeating: "e", count: 16_384), nonce: String(repeating: "n", count: 256),
        device: Sample.fullDevice, authorizationCode: String(repeating: "å", count: 1024))

    static let canonicalReply: SocialSignedIn = .session(VerifyOTP.canonicalReply)
    static let minimalReply: SocialSignedIn = Social.phoneRequired
    static let maximalReply: SocialSignedIn = .session(VerifyOTP.maximalReply)

    static let errors: [BusError] =
        [Social.invalid, Social.forbidden, Social.unavailable, Social.notOffered] + Sample.appErrors

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<SignInWithApple> {
        try await asked(auth, subject: auth.key())
    }

    @Loop private static func asked(_ auth: AuthProvider, subject: String) async throws -> Asked<SignInWithApple> {
        let nonce = try await auth.nonce(of: "apple")
        return Asked(
            SignInWithApple(
                identityToken: auth.forge.token("apple", subject: subject, nonce: nonce), nonce: nonce,
                device: Sample.phone), key: auth.key())
    }

    @Loop private static func named(
        app: String? = nil, entry: String? = nil, _ auth: AuthProvider
    ) -> Asked<SignInWithApple> {
        Asked(
            SignInWithApple(identityToken: "e", nonce: "n", device: Sample.phone, app: app, entry: entry),
            key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, SignInWithApple>] = [
        "app_unknown": { named(app: "pk_unknown", $0) },
        "entry_unknown": { named(entry: "autumn", $0) },
        "identity_token_invalid": { auth in
            var asked = try await asked(auth, subject: "1")
            asked.message.identityToken += "A"
            return asked
        },
        "identity_provider_unavailable": { auth in
            let asked = try await asked(auth, subject: "1")
            try await auth.loseProvidersKeys()
            return asked
        },
        "method_not_available": { auth in
            try await auth.serveNoProvider()
            return Asked(SignInWithApple(identityToken: "e", nonce: "n", device: Sample.phone), key: auth.key())
        },
        "forbidden": { auth in
            let subject = auth.key()
            let person = try await auth.linked("apple", subject: subject).user.id
            try await auth.stage.rows("UPDATE accounts SET status = 'suspended' WHERE id = '\(person)'")
            return try await asked(auth, subject: subject)
        },
    ]
}

extension SignInWithGoogle: MessageContract {
    static let canonical = SignInWithGoogle(
        identityToken: "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", nonce: "nc_9d1c", device: Sample.phone)
    static let minimal = SignInWithGoogle(identityToken: "e", nonce: "n", device: Sample.smallDevice)
    static let maximal = SignInWithGoogle(
        identityToken: String(repeating: "e", count: 16_384), nonce: String(repeating: "n", count: 256),
        device: Sample.fullDevice, authorizationCode: String(repeating: "å", count: 1024))

    static let canonicalReply: SocialSignedIn = Social.phoneRequired
    static let minimalReply: SocialSignedIn = .session(VerifyOTP.minimalReply)
    static let maximalReply = SocialSignedIn.phoneVerificationRequired(
        .init(linkToken: String(repeating: "l", count: 256), expiresInSeconds: 3600))

    static let errors: [BusError] =
        [
            BusError(.identityTokenInvalid, "Google did not confirm this sign-in. Please try again."),
            Social.forbidden,
            BusError(
                .identityProviderUnavailable, "Signing in with Google is not available right now.",
                retryAfter: .seconds(30)), Sample.methodNotAvailable,
        ] + Sample.appErrors

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<SignInWithGoogle> {
        let subject = auth.key()
        _ = try await auth.linked("google", subject: subject)
        return try await asked(auth, subject: subject)
    }

    @Loop private static func asked(_ auth: AuthProvider, subject: String) async throws -> Asked<SignInWithGoogle> {
        let nonce = try await auth.nonce(of: "google")
        return Asked(
            SignInWithGoogle(
                identityToken: auth.forge.token("google", subject: subject, nonce: nonce), nonce: nonce,
                device: Sample.phone), key: auth.key())
    }

    @Loop private static func named(
        app: String? = nil, entry: String? = nil, _ auth: AuthProvider
    ) -> Asked<SignInWithGoogle> {
        Asked(
            SignInWithGoogle(identityToken: "e", nonce: "n", device: Sample.phone, app: app, entry: entry),
            key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, SignInWithGoogle>] = [
        "app_unknown": { named(app: "pk_unknown", $0) },
        "entry_unknown": { named(entry: "autumn", $0) },
        "identity_token_invalid": { auth in
            var asked = try await asked(auth, subject: "1")
            asked.message.nonce = try await auth.nonce(of: "google")
            return asked
        },
        "identity_provider_unavailable": { auth in
            let asked = try await asked(auth, subject: "1")
            try await auth.loseProvidersKeys()
            return asked
        },
        "method_not_available": { auth in
            try await auth.serveNoProvider()
            return Asked(SignInWithGoogle(identityToken: "e", nonce: "n", device: Sample.phone), key: auth.key())
        },
        "forbidden": { auth in
            let subject = auth.key()
            let person = try await auth.linked("google", subject: subject).user.id
            try await auth.stage.rows("UPDATE accounts SET status = 'suspended' WHERE id = '\(person)'")
            return try await asked(auth, subject: subject)
        },
    ]
}

extension ListIdentities: MessageContract {
    static let canonical = ListIdentities()
    static let minimal = ListIdentities()
    static let maximal = ListIdentities()

    static let canonicalReply = IdentityList(identities: [
        .init(provider: "google", email: "a…@e…", linkedAt: Sample.everyday, lastUsedAt: Sample.everyday)
    ])
    static let minimalReply = IdentityList(identities: [])
    static let maximalReply = IdentityList(identities: [
        .init(
            provider: "apple", email: String(repeating: "…", count: 16), linkedAt: Sample.earliest,
            lastUsedAt: Sample.latest),
        .init(provider: "google", email: nil, linkedAt: Sample.earliest, lastUsedAt: Sample.earliest),
    ])

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ListIdentities> {
        let session = try await auth.linked("google", subject: auth.key())
        return Asked(ListIdentities(), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, ListIdentities>] = [
        "unauthorized": { _ in Asked(ListIdentities()) }
    ]
}

extension LinkIdentity: MessageContract {
    static let canonical = LinkIdentity(
        provider: "apple", identityToken: "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", nonce: "nc_9d1c",
        authorizationCode: "c0de")
    static let minimal = LinkIdentity(provider: "google", identityToken: "e", nonce: "n")
    static let maximal = LinkIdentity(
        provider: "apple", identityToken: String(repeating: "e", count: 16_384),
        nonce: String(repeating: "n", count: 256), authorizationCode: String(repeating: "å", count: 1024))

    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.reauthenticationRequired, "Please sign in again to link Apple."), Sample.frozen,
        BusError(.forbidden, "Please add a phone number before you link Apple."), Social.invalid,
        BusError(.identityInUse, "This Apple account is linked to another account."),
        BusError(.providerAlreadyLinked, "Another Apple account is linked to yours. Unlink it first."),
        Social.unavailable, Social.notOffered,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<LinkIdentity> {
        try await asked(try await auth.session(), auth)
    }

    @Loop private static func asked(
        _ session: Session, subject: String? = nil, _ auth: AuthProvider
    ) async throws -> Asked<LinkIdentity> {
        let nonce = try await auth.nonce(of: "apple")
        let token = auth.forge.token("apple", subject: subject ?? auth.key(), nonce: nonce)
        return Asked(
            LinkIdentity(provider: "apple", identityToken: token, nonce: nonce), for: session.user.id,
            in: session.sessionId, key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, LinkIdentity>] = [
        "unauthorized": { auth in
            let session = try await auth.session()
            try await auth.stage.rows("UPDATE sessions SET revoked_at = now() WHERE id = '\(session.sessionId)'")
            return try await asked(session, auth)
        },
        "reauthentication_required": { auth in
            let session = try await auth.session()
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return try await asked(session, auth)
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let session = try await auth.session(phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return try await asked(session, auth)
        },
        "forbidden": { auth in
            let session = try await auth.session()
            try await auth.stage.rows("DELETE FROM phones")
            return try await asked(session, auth)
        },
        "identity_token_invalid": { auth in
            var asked = try await asked(try await auth.session(), auth)
            asked.message.identityToken += "A"
            return asked
        },
        "identity_in_use": { auth in
            let subject = auth.key()
            _ = try await auth.linked("apple", subject: subject)
            return try await asked(try await auth.session(), subject: subject, auth)
        },
        "provider_already_linked": { auth in
            let session = try await auth.session()
            try await auth.reply(to: try await asked(session, auth))
            return try await asked(session, auth)
        },
        "identity_provider_unavailable": { auth in
            let asked = try await asked(try await auth.session(), auth)
            try await auth.loseProvidersKeys()
            return asked
        },
        "method_not_available": { auth in
            let session = try await auth.session()
            try await auth.serveNoProvider()
            return Asked(canonical, for: session.user.id, in: session.sessionId, key: auth.key())
        },
    ]
}

extension UnlinkIdentity: MessageContract {
    static let canonical = UnlinkIdentity(provider: "google")
    static let minimal = UnlinkIdentity(provider: "apple")
    static let maximal: UnlinkIdentity = canonical

    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()

    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(.reauthenticationRequired, "Please sign in again to unlink Google."), Sample.frozen,
        BusError(.lastWayIn, "Google is the only way into your account. Add a phone number first."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<UnlinkIdentity> {
        asked(try await auth.linked("google", subject: auth.key()))
    }

    private static func asked(_ session: Session) -> Asked<UnlinkIdentity> {
        Asked(canonical, for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, UnlinkIdentity>] = [
        "unauthorized": { _ in Asked(canonical) },
        "reauthentication_required": { auth in
            let session = try await auth.linked("google", subject: auth.key())
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return asked(session)
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let session = try await auth.linked("google", subject: auth.key(), phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return asked(session)
        },
        "last_way_in": { auth in
            let session = try await auth.linked("google", subject: auth.key())
            try await auth.stage.rows("DELETE FROM phones")
            return asked(session)
        },
    ]
}

extension TakeAppleNotification: MessageContract {
    static let canonical = TakeAppleNotification(payload: "eyJhbGciOiJSUzI1NiJ9.eyJqdGkiOiIxIn0.c2ln")
    static let minimal = TakeAppleNotification(payload: "e")
    static let maximal = TakeAppleNotification(payload: String(repeating: "e", count: 16_384))

    static let canonicalReply = AppleNotificationTaken()
    static let minimalReply = AppleNotificationTaken()
    static let maximalReply = AppleNotificationTaken()

    static let errors: [BusError] = [Social.invalid, Social.unavailable, Social.notOffered]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<TakeAppleNotification> {
        let subject = auth.key()
        _ = try await auth.linked("apple", subject: subject)
        return asked(auth, subject)
    }

    @Loop private static func asked(_ auth: AuthProvider, _ subject: String = "1") -> Asked<TakeAppleNotification> {
        Asked(
            TakeAppleNotification(
                payload: auth.forge.notification("consent-revoked", subject: subject, id: auth.key())), key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, TakeAppleNotification>] = [
        "identity_token_invalid": { auth in
            var asked = asked(auth)
            asked.message.payload += "A"
            return asked
        },
        "identity_provider_unavailable": { auth in
            try await auth.loseProvidersKeys()
            return asked(auth)
        },
        "method_not_available": { auth in
            try await auth.serveNoProvider()
            return asked(auth)
        },
    ]
}

extension ChangePhone: MessageContract {
    static let canonical = ChangePhone(challengeId: Sample.challenge, code: "042917")
    static let minimal = ChangePhone(challengeId: Sample.challenge, code: "000000")
    static let maximal = ChangePhone(challengeId: Sample.challenge, code: "999999")

    static let canonicalReply = PhoneChanged(maskedPhone: "+1 (***) ***-2671")
    static let minimalReply = PhoneChanged(maskedPhone: "+")
    static let maximalReply = PhoneChanged(maskedPhone: String(repeating: "•", count: 64))

    static let errors: [BusError] = [
        Sample.unauthorized, Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked,
        BusError(.reauthenticationRequired, "Please sign in again to change your number."), Sample.frozen,
        BusError(.phoneInUse, "This number is already in use. Recover your account?"),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ChangePhone> {
        try await asked(auth, by: try await auth.session())
    }

    /// - Parameter tries: the number of earlier attempts.
    @Loop private static func asked(
        _ auth: AuthProvider, by session: Session, to phone: String? = nil, isRight: Bool = true, tries: Int = 0
    ) async throws -> Asked<ChangePhone> {
        let phone = phone ?? auth.newPhone()
        let known = auth.spool.codes(for: phone).count
        let sent = try await auth.reply(
            to: Asked(
                SendOTP(phone: phone, purpose: "change_phone"), for: session.user.id, in: session.sessionId,
                key: auth.key()))
        let code = try await auth.spool.code(for: phone, after: known)
        let message = ChangePhone(
            challengeId: sent.challengeId, code: isRight ? code : AuthProvider.wrong(code))
        for _ in 0..<tries {
            _ = try? await auth.reply(
                to: Asked(message, for: session.user.id, in: session.sessionId, key: auth.key()))
        }
        return Asked(message, for: session.user.id, in: session.sessionId, key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, ChangePhone>] = [
        "unauthorized": { Asked(canonical, key: $0.key()) },
        "otp_invalid": { auth in try await asked(auth, by: try await auth.session(), isRight: false) },
        "otp_expired": { auth in
            let (session, stranger) = (try await auth.session(), try await auth.session())
            let others = try await asked(auth, by: stranger)
            return Asked(others.message, for: session.user.id, in: session.sessionId, key: auth.key())
        },
        "otp_locked": { auth in try await asked(auth, by: try await auth.session(), isRight: false, tries: 2) },
        "reauthentication_required": { auth in
            let asked = try await asked(auth, by: try await auth.session())
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return asked
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let asked = try await asked(auth, by: try await auth.session(phone: phone))
            try await auth.reply(to: try await auth.claim(of: phone))
            return asked
        },
        "phone_in_use": { auth in
            let (session, taken) = (try await auth.session(), auth.newPhone())
            _ = try await auth.session(phone: taken)
            try await auth.age("2 minutes")
            return try await asked(auth, by: session, to: taken)
        },
    ]
}

extension UndoPhoneChange: MessageContract {
    static let canonical = UndoPhoneChange(
        disputeToken: "dt_9d1c", device: .init(id: Sample.device, secret: "ds_51ab"))
    static let minimal = UndoPhoneChange()
    static let maximal = UndoPhoneChange(
        disputeToken: String(repeating: "d", count: 128), challengeId: Sample.challenge, code: "999999",
        device: .init(id: Sample.device, secret: String(repeating: "s", count: 128)))

    static let canonicalReply: PhoneChanged = ChangePhone.canonicalReply
    static let minimalReply: PhoneChanged = ChangePhone.minimalReply
    static let maximalReply: PhoneChanged = ChangePhone.maximalReply

    static let errors: [BusError] = [
        BusError(
            .validationFailed, "Some members of the request are missing or wrong.",
            errors: [
                .init(
                    field: "disputeToken", code: "required",
                    message: "Either this is needed, or a challenge with its code.")
            ]), Sample.unauthorized,
        BusError(.forbidden, "This takes a device that your account knew before its number was changed."),
        BusError(.notFound, "There is no change of this number that can be taken back."), Sample.otpInvalid,
        Sample.otpExpired, Sample.otpLocked, Sample.frozen,
        BusError(.phoneInUse, "This number is already in use. Recover your account?"),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<UndoPhoneChange> {
        let (_, session, token) = try await changed(auth)
        return undo(token, session, auth)
    }

    @Loop private static func undo(_ token: String, _ session: Session, _ auth: AuthProvider) -> Asked<UndoPhoneChange>
    {
        let device = SendOTP.Proof(id: session.deviceId, secret: session.deviceSecret ?? "")
        return Asked(UndoPhoneChange(disputeToken: token, device: device), key: auth.key())
    }

    /// An account whose number was changed, with its old number and the token from the SMS to that number.
    @Loop private static func changed(
        _ auth: AuthProvider
    ) async throws -> (old: String, session: Session, token: String) {
        let (old, new) = (auth.newPhone(), auth.newPhone())
        let session = try await auth.session(phone: old)
        // A device is trusted after three days.
        try await auth.stage.rows(
            "UPDATE devices SET created_at = created_at - interval '73 hours' WHERE id = '\(session.deviceId)'")
        let known = auth.spool.codes(for: new).count
        let sent = try await auth.reply(
            to: Asked(
                SendOTP(phone: new, purpose: "change_phone"), for: session.user.id, in: session.sessionId,
                key: auth.key()))
        let code = try await auth.spool.code(for: new, after: known)
        let told = auth.spool.count(for: old)
        try await auth.reply(
            to: Asked(
                ChangePhone(challengeId: sent.challengeId, code: code), for: session.user.id, in: session.sessionId,
                key: auth.key()))
        while auth.spool.count(for: old) == told { try await Loop.sleep(for: .milliseconds(5)) }
        let texts = auth.spool.messages().filter { $0["to"]?.stringValue == old }
        let words = texts.last?["body"]?.stringValue?.split { $0 == " " || $0 == "," }.map(String.init) ?? []
        return (old, session, words.first { $0.hasPrefix("dt_") } ?? "")
    }

    /// Undoes the change with a code for the old number instead of the token.
    @Loop private static func byCode(
        _ auth: AuthProvider, isRight: Bool = true, tries: Int = 0
    ) async throws -> Asked<UndoPhoneChange> {
        let (old, session, _) = try await changed(auth)
        try await auth.age("2 minutes")
        let known = auth.spool.codes(for: old).count
        let sent = try await auth.reply(to: Asked(SendOTP(phone: old, undoes: "phone_change"), key: auth.key()))
        let code = try await auth.spool.code(for: old, after: known)
        let message = UndoPhoneChange(
            challengeId: sent.challengeId, code: isRight ? code : AuthProvider.wrong(code),
            device: .init(id: session.deviceId, secret: session.deviceSecret ?? ""))
        for _ in 0..<tries { _ = try? await auth.reply(to: Asked(message, key: auth.key())) }
        return Asked(message, key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, UndoPhoneChange>] = [
        "validation_failed": { Asked(UndoPhoneChange(), key: $0.key()) },
        "unauthorized": { Asked(UndoPhoneChange(disputeToken: "dt_9d1c"), key: $0.key()) },
        "forbidden": { auth in
            let (_, _, token) = try await changed(auth)
            return undo(token, try await auth.session(), auth)
        },
        "not_found": { auth in undo("dt_9d1c", try await auth.session(), auth) },
        "otp_invalid": { try await byCode($0, isRight: false) },
        "otp_expired": { auth in
            let asked = try await byCode(auth)
            try await auth.age("300 s")
            return asked
        },
        "otp_locked": { try await byCode($0, isRight: false, tries: 2) },
        "account_frozen": { auth in
            let (old, session, token) = try await changed(auth)
            try await auth.reply(to: try await auth.claim(of: old))
            // A freeze that began after the change does not stop the undo, so this one must be older.
            try await auth.stage.rows(
                """
                UPDATE freezes SET created_at = created_at - interval '1 day' WHERE person_id = '\(session.user.id)'
                """)
            return undo(token, session, auth)
        },
        "phone_in_use": { auth in
            let (old, session, token) = try await changed(auth)
            try await auth.age("2 minutes")
            _ = try await auth.session(phone: old)
            return undo(token, session, auth)
        },
    ]
}
