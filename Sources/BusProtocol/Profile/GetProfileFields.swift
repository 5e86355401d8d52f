import JSONText

/// Asks for the catalogue of profile fields. A client builds its forms from it.
@Message
public struct GetProfileFields: PublicRequest {
    public typealias Reply = ProfileFields
    public static let type: MessageType = "profile.get-fields"
    public static let rules = MessageRules(service: .profile, callers: [.gateway, .questionnaire], effect: .read)
    public static let route = HTTPRoute(
        .get, "/profile/fields", .anybody, "The catalogue of profile fields.", isRevalidated: true)

    /// The languages that the person prefers (RFC 9110). The labels are English if there are none in these languages.
    @Field(.string(0...4096), from: .header("accept-language")) public var acceptLanguage: String?
}

/// The fields of an app's plan in one language. They are the same for everybody in the app.
@Message
public struct ProfileFields: PublicReply {
    /// The key of the catalogue.
    @Field(.string(1...64), example: "profile") public var key: String
    /// The version of the catalogue.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the other members in RFC 8785 form, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    /// The language of the labels (RFC 5646).
    @Field(.string(2...35)) public var language: String
    /// The screens of the sign-up, in order.
    @Field(count: 1...64) public var steps: [ProfileStepView]
    /// The fields, in the order in which they are asked.
    @Field(count: 1...64) public var fields: [ProfileFieldView]
    /// The choice that every field with `allowsPreferNotToSay` accepts in place of a value.
    public var preferNotToSay: ProfileOption?

    /// Made from the hash, because one version has a reply for each language.
    public var entityRevision: Int64? { Int64(hash.prefix(12), radix: 16).map { $0 + 1 } }
}

/// One screen of the sign-up. Step 1 is the account itself and has no fields.
@Message
public struct ProfileStepView: MessageValue {
    /// The number of the step.
    @Field(.integer(1...64)) public var step: Int64
    /// The key of the step.
    @Field(.string(1...64), example: "about") public var key: String
    /// The title of the screen.
    @Field(.string(1...200), example: "About you") public var label: String
    /// The keys of the step's fields.
    @Field(.string(1...64), count: 0...64) public var fields: [String]
    /// Whether the step has a required field.
    public var required: Bool
    /// Whether every field of the step may be skipped.
    public var skippable: Bool
    /// The key of the onboarding's step that the screen belongs to. `GET /users/me/onboarding` does not list a step that
    /// the person is not asked for. It is missing for step 1.
    @Field(.string(1...64), example: "profile") public var onboardingStep: String?
    /// The fields that a person fills in by hand, in the form of a questionnaire's questions: one piece of code draws both.
    /// The options are those of the field with the same key. A value is sent by `PATCH /users/me`. A field whose value is an
    /// object has no question.
    @Field(count: 0...64) public var questions: [ScreenQuestion]?
}

/// One value that a choice field may have.
@Message
public struct ProfileOption: MessageValue {
    /// The value to send.
    @Field(.string(1...64), example: "everyone") public var key: String
    /// The text to show.
    @Field(.string(1...200)) public var label: String
    /// The option cannot be chosen together with another.
    public var exclusive: Bool?
}

/// A search that finds values of a field while the person types.
@Message
public struct FieldLookup: MessageValue {
    /// The path of the search in this API.
    @Field(.string(1...200), example: "/cities") public var path: String
    /// The query parameter for what the person has typed.
    @Field(.string(1...64), example: "query") public var parameter: String
    /// The fields that the app sets, in one request, from the value that the person chooses.
    @Field(count: 1...16) public var fills: [FieldFill]
}

/// One field that is set from a value of a ``FieldLookup``.
@Message
public struct FieldFill: MessageValue {
    /// Key of the field in the catalogue.
    @Field(.string(1...64)) public var field: String
    /// The member of the chosen value. If it is missing, clear the field.
    @Field(.string(1...64), example: "country") public var member: String
}

/// One number in a field whose value is an object.
@Message
public struct FieldMember: MessageValue {
    /// Its name in the object.
    @Field(.string(1...64)) public var key: String
    /// Its least value.
    @Field(.integer(-1_000_000...1_000_000), example: 120) public var min: Int64
    /// Its greatest value.
    @Field(.integer(-1_000_000...1_000_000), example: 250) public var max: Int64
}

/// The control that suits a field on each platform.
@Message
public struct PlatformControls: MessageValue {
    /// The control on the web.
    @Field(.string(1...64), example: "textarea") public var web: String
    /// The control on iOS.
    @Field(.string(1...64), example: "TextField") public var ios: String
    /// The control on Android.
    @Field(.string(1...64), example: "TextField") public var android: String
}
