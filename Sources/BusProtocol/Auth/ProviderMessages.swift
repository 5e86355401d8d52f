import JSONText

// What auth posts to the operator's own servers (`SMS_PROVIDER=webhook`, `EMAIL_PROVIDER=webhook`, `PUSH_PROVIDER=webhook`) and writes into the spool.

/// An SMS that the receiver is to send.
@Message
public struct SMSWebhook: MessageValue {
    /// ID of the SMS, the same at each attempt.
    public var id: Identifier
    /// The number, in E.164 form.
    @Field(.string(1...64)) public var to: String
    /// The text.
    @Field(.string(1...4096)) public var body: String
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
    @Field(.string(1...998)) public var subject: String
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
    @Field(.string(1...200)) public var title: String
    /// Text for the person.
    @Field(.string(1...4096)) public var body: String
    /// For the app.
    @Field(PushWebhook.payload) public var data: [String: String]
    /// When this attempt was made.
    public var at: Timestamp

    private static let payload = JSONSchema.map(of: .string(0...1024), count: 1...17).named(
        "PushData",
        """
        `kind` says what happened: `new_device`, `device_changed`, `device_removed`, `identity_linked`, `identity_unlinked`, \
        `identity_revoked`, `phone_changed`, `phone_change_undone`, `phone_detached`, `now_eligible`, or of a recovery \
        `recovery_requested`, `recovery_reminder`, `recovery_last_hour`, `recovery_disputed`, `recovery_contested`, \
        `recovery_approved`, `recovery_rejected`, `recovery_cancelled`, `recovery_expired`, `recovery_completed`, \
        `recovery_lock_on`, `recovery_lock_off`. Further members depend on the kind. An app shows a push of an unknown kind by \
        its title and its text.
        """)
}
