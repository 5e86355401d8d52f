import JSONText

// What auth posts to the operator's own servers (`SMS_PROVIDER=webhook`, `EMAIL_PROVIDER=webhook`, `PUSH_PROVIDER=webhook`) and writes into the spool.

/// An SMS that the receiver is to send.
@Message
public struct SMSWebhook: MessageValue {
    /// ID of the SMS, the same at each attempt.
    public var id: Identifier
    /// The number, in E.164 form.
    @Field(.string(1...64), example: "+46701234567") public var to: String
    /// The text.
    @Field(.string(1...4096), example: "878396 is your code to sign in.") public var body: String
    /// When this attempt was made.
    public var at: Timestamp
}

/// An email that the receiver is to send.
@Message
public struct EmailWebhook: MessageValue {
    /// ID of the email, the same at each attempt.
    public var id: Identifier
    /// The address.
    @Field(.string(1...254)) public var to: String
    /// The subject.
    @Field(.string(1...998), example: "Your code to sign in") public var subject: String
    /// The text.
    @Field(.string(1...4096)) public var body: String
    /// When this attempt was made.
    public var at: Timestamp
}

/// A push that the receiver is to send to one device.
@Message
public struct PushWebhook: MessageValue {
    /// ID of the push, the same at each attempt.
    public var id: Identifier
    /// Whose device it is.
    public var userId: Identifier
    /// ID of the device.
    public var deviceId: Identifier
    /// From the platform's push service.
    @Field(.string(1...4096)) public var pushToken: String
    /// Title for the person.
    @Field(.string(1...200), example: "New sign-in") public var title: String
    /// Text for the person.
    @Field(.string(1...4096)) public var body: String
    /// For the app.
    @Field(PushWebhook.payload) public var data: [String: String]
    /// When this attempt was made.
    public var at: Timestamp

    private static let payload = JSONSchema.object([
        .required("kind", kind, "What happened."),
        .optional(
            "userId", text, "Whose push it is, in a push by Firebase Cloud Messaging.",
            example: "0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e"),
        .optional(
            "at", text, "When it happened. In `recovery_lock_off`: when the lock ends.", example: "2026-02-20T09:00:00Z"
        ),
        .optional("deviceId", text, "The device, in pushes about devices."),
        .optional("platform", text, "What that device runs: `ios`, `android` or `web`.", example: "android"),
        .optional("provider", text, "`apple`, `google` or `email`, in pushes about identities.", example: "google"),
        .optional("email", text, "The email address, masked.", example: "a…@e…"),
        .optional("phone", text, "The phone number, masked."),
        .optional("recoveryId", text, "The recovery case.", example: "0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e"),
        .optional("recoveryIds", text, "The recovery cases, if there are several: separated by spaces."),
        .optional("claimantPhone", text, "The claimant's number, masked."),
        .optional("requestedAt", text, "When the recovery was asked for.", example: "2026-02-17T09:00:00Z"),
        .optional("holdUntil", text, "When the first hold ends."),
        .optional(
            "recentSignIn", text, "`true`: somebody signed in by the account's number within the last day.",
            example: "true"),
        .optional("disputeToken", text, "Stops the recovery without a sign-in."),
    ]).named(
        "PushData",
        "For the app. All values are texts. An app shows a push of an unknown kind by its title and its text.")

    private static let text = JSONSchema.string(0...1024)
    private static let kind = JSONSchema.string(.init(length: 1...64, known: NoticeKind.known.map(\.rawValue))).named(
        "PushKind", "What a push is about.")
}
