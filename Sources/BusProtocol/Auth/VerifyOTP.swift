import JSONText

/// Trades a code for a session (`POST /auth/otp/verify`); a phone without an account gets one.
public struct VerifyOTP: BusRequest {
    public typealias Reply = Session
    public static let type: MessageType = "auth.verify-otp"
    public static let schema = JSONSchema.object([
        .required("challengeId", .uuid), .required("code", .string(.init(length: 6...6, format: .otp))),
        .required("device", DeviceClaim.schema), .optional("confirmLink", .boolean), .optional("newAccount", .boolean),
        .optional("anonymousId", .string(1...64)),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .otpInvalid, .otpExpired, .otpLocked, .forbidden, .linkConfirmationRequired, .linkTokenExpired,
            .identityInUse,
            .providerAlreadyLinked, .accountFrozen, .recoveryRequired, .recoveryInProgress,
        ],
        replyCarriesToken: true)

    public var challengeId: Identifier
    public var code: String
    public var device: DeviceClaim
    /// The identity of the challenge's link token is to be linked to an account that exists already.
    public var confirmLink: Bool?
    /// The account that the number has is not this person's: where it slept for long, the number gets a new one.
    public var newAccount: Bool?
    public var anonymousId: String?

    public init(
        challengeId: Identifier, code: String, device: DeviceClaim, confirmLink: Bool? = nil, newAccount: Bool? = nil,
        anonymousId: String? = nil
    ) {
        self.challengeId = challengeId
        self.code = code
        self.device = device
        self.confirmLink = confirmLink
        self.newAccount = newAccount
        self.anonymousId = anonymousId
    }
}

/// A person is signed in on a device.
public struct Session: PublicReply {
    public static let schema = JSONSchema.object([
        .required("accessToken", .string(1...2048)), .required("tokenType", .values("Bearer")),
        .required("expiresInSeconds", .integer(1...86_400)), .required("refreshToken", .string(1...128)),
        .required("sessionId", .uuid), .required("deviceId", .uuid),
        .optional("deviceSecret", .string(1...128), "The first time on a device only"),
        .required("isNewUser", .boolean),
        .required(
            "user", .object([.required("id", .uuid), .optional("onboardingStatus", .nullable(.string(1...32)))])),
    ])
    public var accessToken: String
    public var tokenType: String
    public var expiresInSeconds: Int64
    public var refreshToken: String
    public var sessionId: Identifier
    public var deviceId: Identifier
    public var deviceSecret: String?
    public var isNewUser: Bool
    public var user: User

    public struct User: Codable, Sendable, Equatable {
        public var id: Identifier
        /// `nil` where profile did not answer in time.
        public var onboardingStatus: String?
        public init(id: Identifier, onboardingStatus: String?) {
            (self.id, self.onboardingStatus) = (id, onboardingStatus)
        }

        /// `null` is written: a client looks for the member.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(onboardingStatus, forKey: .onboardingStatus)
        }
    }

    public init(
        accessToken: String, tokenType: String = "Bearer", expiresInSeconds: Int64, refreshToken: String,
        sessionId: Identifier, deviceId: Identifier, deviceSecret: String? = nil, isNewUser: Bool, user: User
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresInSeconds = expiresInSeconds
        self.refreshToken = refreshToken
        self.sessionId = sessionId
        self.deviceId = deviceId
        self.deviceSecret = deviceSecret
        self.isNewUser = isNewUser
        self.user = user
    }
}
