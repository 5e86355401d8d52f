import JSONText

/// Asks for the person's own profile.
@Message
public struct GetMe: PublicRequest {
    public typealias Reply = Me
    public static let type: MessageType = "profile.get-me"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me", .user, "The person's own profile.")
}

/// Changes fields of the profile, all of them or none. `null` clears a field.
///
/// Besides the catalogue's fields it accepts `height: {feet, inches}` and `timeZone`. The person's age is counted in
/// that time zone.
@Message
public struct UpdateMe: PublicRequest {
    public typealias Reply = Me
    public static let type: MessageType = "profile.update-me"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .preconditionFailed, .dateOfBirthLocked, .underage])
    public static let route = HTTPRoute(
        .patch, "/users/me", .user, "Changes fields of the profile at once.")

    /// The new values by key.
    @Field(count: 0...64, from: .body) public var fields: [String: JSONValue]
    /// The entity tag of the profile that the client changed.
    @Field(.string(1...64), from: .header("if-match")) public var ifMatch: String?
}

/// A profile as its owner sees it.
@Message
public struct Me: PublicReply {
    /// The person.
    public var id: Identifier
    /// The fields that are set.
    @Field(count: 0...64) public var profile: [String: JSONValue]
    /// The age in years.
    @Field(.nullable(.integer(0...150))) public var age: Int64?
    /// What keeps the person from completing the onboarding, or `complete`.
    @Field(.onboardingStatus) public var onboardingStatus: String
    /// The step of the onboarding to continue at; missing if nothing is left.
    public var next: NextStep?
    /// The kind of the step that the person is at, in few words. Use `next`.
    @Field(.onboardingStep, isDeprecated: true) public var onboardingStep: String
    /// Whether the person is matched: `none`, `provisional` or `full-confidence`.
    @Field(.matchingMode) public var matchingMode: String
    /// The keys of skipped fields.
    @Field(.string(1...64), count: 0...64) public var skippedFields: [String]
    /// The keys of fields that the person prefers not to share.
    @Field(.string(1...64), count: 0...64) public var preferNotToShareFields: [String]
    /// How complete the profile is, in per cent.
    @Field(.integer(0...100), example: 80) public var completion: Int64
    /// Present if the person is too young.
    public var ageGate: AgeGate?
    /// A name of the IANA database. Without it days are counted in UTC.
    @Field(.nullable(.string(1...64)), example: "Europe/Stockholm") public var timeZone: String?
    /// When the profile was created.
    public var createdAt: Timestamp
    /// When the profile was last changed.
    public var updatedAt: Timestamp
    /// Increases with every change. The entity tag is made from it.
    @Field(.ordinal) public var revision: Int64

    /// The signed address of a photo changes every day, so its end is in the tag.
    public var entityTag: EntityTag? {
        let plain = EntityTag(revision: revision).rawValue
        return EntityTag(rawValue: profile["photo"]?.stringValue.map { "\(plain)-\($0.suffix(8))" } ?? plain)
    }
}

/// What a person who is too young is told.
///
/// The account exists, and what the person fills in and answers is saved. Until the person is old enough, every capability but
/// `appAccess` is disabled (`underage`), and the onboarding is `blocked`.
@Message
public struct AgeGate: MessageValue {
    /// Whether the person may be matched.
    public var allowed: Bool
    /// A sentence for the person.
    @Field(.string(1...200), example: "You can be matched from your 18th birthday on.") public var message: String
    /// The day on which the person is old enough.
    public var eligibleOn: CivilDate
}
