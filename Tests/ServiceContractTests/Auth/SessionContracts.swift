import BusProtocol
import EventLoop

extension RefreshToken: MessageContract {
    static let canonical = RefreshToken(refreshToken: "rf_9d1c")
    static let minimal = RefreshToken(refreshToken: "r")
    static let maximal = RefreshToken(refreshToken: String(repeating: "r", count: 128))

    static let canonicalReply: Session = VerifyOTP.canonicalReply
    static let minimalReply: Session = VerifyOTP.minimalReply
    static let maximalReply: Session = VerifyOTP.maximalReply

    static let errors: [BusError] = [
        BusError(.refreshTokenInvalid, "Please sign in again."),
        BusError(
            .refreshTokenReused, "This session was ended for your safety. Please sign in again.", executed: .yes),
        .requestInProgress,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<RefreshToken> {
        Asked(RefreshToken(refreshToken: try await auth.session().refreshToken), key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, RefreshToken>] = [
        "refresh_token_invalid": { Asked(RefreshToken(refreshToken: "rf_0123456789"), key: $0.key()) },
        "refresh_token_reused": { auth in
            let old = try await auth.session().refreshToken
            try await auth.reply(to: Asked(RefreshToken(refreshToken: old), key: auth.key()))
            try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = replaced_at - interval '11 s'")
            return Asked(RefreshToken(refreshToken: old), key: auth.key())
        },
        "request_in_progress": { auth in
            let old = try await auth.session().refreshToken
            let new = try await auth.reply(to: Asked(RefreshToken(refreshToken: old), key: auth.key()))
            try await auth.reply(to: Asked(RefreshToken(refreshToken: new.refreshToken), key: auth.key()))
            // Now the request is older than the pair that overtook it.
            try await auth.stage.rows("UPDATE refresh_tokens SET replaced_at = clock_timestamp() + interval '1 min'")
            return Asked(RefreshToken(refreshToken: old), key: auth.key())
        },
    ]
}

extension Logout: MessageContract {
    static let canonical = Logout()
    static let minimal = Logout()
    static let maximal = Logout()

    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<Logout> {
        let session = try await auth.session()
        return Asked(Logout(), for: session.user.id, in: session.sessionId, key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, Logout>] = [
        "unauthorized": { Asked(Logout(), key: $0.key()) }
    ]
}

extension CheckSession: MessageContract {
    static let canonical = CheckSession(sessionID: Sample.session)
    static let minimal: CheckSession = canonical
    static let maximal: CheckSession = canonical

    static let canonicalReply = SessionChecked(isActive: true)
    static let minimalReply = SessionChecked(isActive: false)
    static let maximalReply = SessionChecked(isActive: true)

    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<CheckSession> {
        Asked(CheckSession(sessionID: try await auth.session().sessionId))
    }

    static let provocations: [String: Provocation<AuthProvider, CheckSession>] = [:]
}

extension CheckBearer: MessageContract {
    static let canonical = CheckBearer(accessToken: "eyJhbGciOiJFZERTQSJ9.e30.c2ln")
    static let minimal = CheckBearer(accessToken: "a")
    static let maximal = CheckBearer(accessToken: String(repeating: "a", count: 2048))

    static let canonicalReply = BearerChecked(userID: Sample.person, sessionID: Sample.session, role: .staff)
    static let minimalReply = BearerChecked(userID: Sample.person, sessionID: Sample.session, role: .user)
    static let maximalReply = BearerChecked(userID: Sample.person, sessionID: Sample.session, role: .admin)

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<CheckBearer> {
        Asked(CheckBearer(accessToken: try await auth.session().accessToken), as: .recovery)
    }

    static let provocations: [String: Provocation<AuthProvider, CheckBearer>] = [
        "unauthorized": { auth in
            let session = try await auth.session()
            try await auth.reply(to: Asked(Logout(), for: session.user.id, in: session.sessionId, key: auth.key()))
            return Asked(CheckBearer(accessToken: session.accessToken), as: .recovery)
        }
    ]
}

extension FollowRevocations: MessageContract {
    static let canonical = FollowRevocations(after: 17, waitMs: 25_000)
    static let minimal = FollowRevocations(waitMs: 0)
    static let maximal = FollowRevocations(after: Sample.largestInteger, waitMs: 30_000)

    static let canonicalReply = RevocationsFollowed(
        cursor: 18, revocations: [.init(sessionID: Sample.session, forgetAt: Sample.everyday)])
    static let minimalReply = RevocationsFollowed(cursor: 0, revocations: [])
    static let maximalReply = RevocationsFollowed(
        cursor: Sample.largestInteger,
        revocations: [
            .init(sessionID: Sample.session, forgetAt: Sample.latest),
            .init(sessionID: Sample.session, forgetAt: Sample.earliest),
        ])

    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<FollowRevocations> {
        let session = try await auth.session()
        try await auth.reply(to: Asked(Logout(), for: session.user.id, in: session.sessionId, key: auth.key()))
        return Asked(FollowRevocations(waitMs: 0))
    }

    static let provocations: [String: Provocation<AuthProvider, FollowRevocations>] = [:]
}

extension GetSigningKeys: MessageContract {
    static let canonical = GetSigningKeys()
    static let minimal = GetSigningKeys()
    static let maximal = GetSigningKeys()

    static let canonicalReply = SigningKeys(keys: [
        // The public key is from RFC 8037, appendix A.2.
        .init(x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", kid: Sample.session.description)
    ])
    static let minimalReply = SigningKeys(keys: [])
    static let maximalReply = SigningKeys(keys: [
        .init(x: String(repeating: "_", count: 43), kid: String(repeating: "k", count: 64)),
        .init(x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", kid: "k"),
    ])

    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<GetSigningKeys> {
        Asked(GetSigningKeys())
    }

    static let provocations: [String: Provocation<AuthProvider, GetSigningKeys>] = [:]
}

extension RotateSigningKey: MessageContract {
    static let canonical = RotateSigningKey()
    static let minimal = RotateSigningKey()
    static let maximal = RotateSigningKey()

    static let canonicalReply = SigningKeyRotated(kid: Sample.session.description, signsFrom: Sample.everyday)
    static let minimalReply = SigningKeyRotated(kid: "k", signsFrom: Sample.earliest)
    static let maximalReply = SigningKeyRotated(kid: String(repeating: "k", count: 64), signsFrom: Sample.latest)

    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<RotateSigningKey> {
        Asked(RotateSigningKey(), as: .operator)
    }

    static let provocations: [String: Provocation<AuthProvider, RotateSigningKey>] = [:]
}

extension RehashPhones: MessageContract {
    static let canonical = RehashPhones(limit: 500, after: Sample.person)
    static let minimal = RehashPhones(limit: 1)
    static let maximal = RehashPhones(limit: 1000, after: Sample.person)

    static let canonicalReply = PhonesRehashed(people: 500, phones: 504, next: Sample.person)
    static let minimalReply = PhonesRehashed(people: 0, phones: 0)
    static let maximalReply = PhonesRehashed(
        people: Sample.largestInteger, phones: Sample.largestInteger, next: Sample.person, left: Sample.largestInteger)

    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<RehashPhones> {
        Asked(RehashPhones(limit: 100), as: .operator)
    }

    static let provocations: [String: Provocation<AuthProvider, RehashPhones>] = [:]
}

extension NoteTokenUse: MessageContract {
    static let canonical = NoteTokenUse(sessionID: Sample.session, tokenID: Sample.challenge)
    static let minimal: NoteTokenUse = canonical
    static let maximal: NoteTokenUse = canonical

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()

    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<NoteTokenUse> {
        let session = try await auth.session().sessionId
        let token = try await auth.stage.rows("SELECT access_id FROM sessions WHERE id = '\(session)'")
        return Asked(NoteTokenUse(sessionID: session, tokenID: Identifier(token) ?? .ordered()))
    }

    static let provocations: [String: Provocation<AuthProvider, NoteTokenUse>] = [:]
}
