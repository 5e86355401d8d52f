import JSONText

/// The catalogue of profile fields, from which a client draws its forms.
@Message
public struct GetProfileFields: PublicRequest {
    public typealias Reply = ProfileFields
    public static let type: MessageType = "profile.get-fields"
    public static let rules = MessageRules(service: .profile, callers: [.gateway, .questionnaire], effect: .read)
    public static let route = HTTPRoute(
        .get, "/profile/fields", .public, "The catalogue of profile fields.", isRevalidated: true)

    /// As the header; English where it names no language that there is.
    @Field(.string(0...4096), from: .header("accept-language")) public var acceptLanguage: String?
}

/// One version of the catalogue in one language: the same for everybody.
@Message
public struct ProfileFields: PublicReply {
    @Field(.string(1...64)) public var key: String
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the other members in RFC 8785 form, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    /// The language of the labels (RFC 5646).
    @Field(.string(2...35)) public var language: String
    @Field(count: 1...64) public var steps: [ProfileStepView]
    /// In the order in which they are asked.
    @Field(count: 1...64) public var fields: [ProfileFieldView]

    /// From the hash, since a version has a text in each language.
    public var entityRevision: Int64? { Int64(hash.prefix(12), radix: 16).map { $0 + 1 } }
}

/// One screen of the sign-up. Step 1 is the account itself and has no fields.
@Message
public struct ProfileStepView: MessageValue {
    @Field(.integer(1...64)) public var step: Int64
    @Field(.string(1...64)) public var key: String
    @Field(.string(1...200)) public var label: String
    @Field(.string(1...64), count: 0...64) public var fields: [String]
    public var required: Bool
    /// Whether every field of the step may be left out.
    public var skippable: Bool
}

/// One value that a field of choice may have.
@Message
public struct ProfileOption: MessageValue {
    @Field(.string(1...64)) public var key: String
    @Field(.string(1...200)) public var label: String
    /// Stands alone where it is chosen.
    public var exclusive: Bool?
}

/// The control that each platform would use for a field.
@Message
public struct NativePattern: MessageValue {
    @Field(.string(1...64)) public var web: String
    @Field(.string(1...64)) public var ios: String
    @Field(.string(1...64)) public var android: String
}
