import JSONText

/// Auth asks how a person may sign in to an app. The plan of the app says it.
@Message
public struct GetSignInRules: BusRequest {
    public typealias Reply = SignInRules
    public static let type: MessageType = "profile.get-sign-in-rules"
    public static let rules = MessageRules(
        service: .profile, callers: [.auth], effect: .read, errors: [.appUnknown, .entryUnknown])

    /// The publishable key of the app; absent for the default app.
    @Field(.string(1...64)) public var app: String?
    /// Where the person came from, such as an invitation or a campaign.
    @Field(.string(1...64)) public var entry: String?
}

/// How a person may sign in to an app.
@Message
public struct SignInRules: BusReply {
    /// The ways to sign in: `phone_code`, `email_code`, `google` and `apple`.
    @Field(.string(1...64), count: 1...16) public var methods: [String]
    /// Whether an account needs a phone: `required`, `optional` or `none`.
    @Field(.open("required", "optional", "none")) public var phone: String
}
