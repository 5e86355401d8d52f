import JSONText

/// The person's own profile.
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
/// Beside the fields of the catalogue it takes `height: {feet, inches}` and `timeZone`, by whose calendar the person's age is
/// counted.
@Message
public struct UpdateMe: PublicRequest {
    public typealias Reply = Me
    public static let type: MessageType = "profile.update-me"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .preconditionFailed, .dateOfBirthLocked, .underage])
    public static let route = HTTPRoute(
        .patch, "/users/me", .user, "Changes fields of the profile at once.")

    @Field(count: 0...64, from: .body) public var fields: [String: JSONValue]
    /// The entity tag of the profile that the client changed.
    @Field(.string(1...64), from: .header("if-match")) public var ifMatch: String?
}

/// A profile as its owner sees it.
@Message
public struct Me: PublicReply {
    public var id: Identifier
    /// Every field that is set.
    @Field(count: 0...64) public var profile: [String: JSONValue]
    @Field(.nullable(.integer(0...150))) public var age: Int64?
    @Field(.string(1...32)) public var onboardingStatus: String
    @Field(.string(1...32)) public var onboardingStep: String
    @Field(.string(1...32)) public var matchingMode: String
    @Field(.string(1...64), count: 0...64) public var skippedFields: [String]
    @Field(.string(1...64), count: 0...64) public var preferNotToShareFields: [String]
    /// Per cent.
    @Field(.integer(0...100)) public var completion: Int64
    public var ageGate: AgeGate?
    /// Of the IANA database; days are counted in UTC without one.
    @Field(.nullable(.string(1...64))) public var timeZone: String?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    /// Goes up with every change; the entity tag is made from it.
    @Field(.ordinal) public var revision: Int64

    public var entityRevision: Int64? { revision }
}

/// Told to a person who is too young: the account is there, matching is not.
@Message
public struct AgeGate: MessageValue {
    public var allowed: Bool
    @Field(.string(1...200)) public var message: String
    public var eligibleOn: CivilDate
}
