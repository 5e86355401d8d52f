import JSONText

/// What is known of the person's visual preferences.
@Message
public struct GetVisualProfile: PublicRequest {
    public typealias Reply = VisualProfile
    public static let type: MessageType = "visual-preference.get-profile"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(.get, "/visual-preferences/profile", .user, "The visual preference profile.")
}

/// A person's visual preferences.
@Message
public struct VisualProfile: PublicReply {
    /// How well they are known.
    @Field(.visualStatus, example: "ready") public var status: String
    /// How much of the uncertainty is gone, from 0 to 1. Missing until the status is `ready`.
    @Field(.number(0...1)) public var confidence: Double?
    /// What each attribute adds to a picture. Empty until the status is `ready`.
    @Field(count: 0...64) public var attributes: [VisualAttribute]
    /// When the profile last changed.
    public var updatedAt: Timestamp?
    /// When the person may begin a new session, after unclear answers.
    public var newSessionAt: Timestamp?
}

/// What one attribute adds to a picture, in the person's eyes.
@Message
public struct VisualAttribute: MessageValue {
    /// The attribute.
    @Field(.string(1...64), example: "glasses") public var key: String
    /// Above 0 the person likes it, below 0 they do not.
    @Field(.number(-1000...1000), example: 0.42) public var weight: Double
    /// The standard error of the weight.
    @Field(.number(0...1000), example: 0.31) public var standardError: Double
}

/// A person's comparisons and what came of them.
@Message
public struct ExportVisualPreferences: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "visual-preference.export-person"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .read, errors: [.unauthorized])

    @Field(.string(1...300)) public var after: String?
}
