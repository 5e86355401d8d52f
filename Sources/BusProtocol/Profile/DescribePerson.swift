import JSONText

/// Asks what a reviewer of a recovery may know of the account's person. Nothing in the reply reaches the person.
@Message
public struct DescribePerson: BusRequest {
    public typealias Reply = PersonDescription
    public static let type: MessageType = "profile.describe-person"
    public static let rules = MessageRules(service: .profile, callers: [.recovery], effect: .read)

    /// The person.
    public var personID: Identifier
}

/// The answer to ``DescribePerson``. What the profile does not have is missing.
@Message
public struct PersonDescription: BusReply {
    /// The first name, or the name that is shown in its place.
    @Field(.string(1...200)) public var firstName: String?
    /// `under_18`, `18-24`, `25-34`, `35-44`, `45-54`, `55-64` or `65+`.
    @Field(.ageBand) public var ageBand: String?
    /// `photo_verified` and `id_verified`.
    @Field(.string(1...64), count: 0...16) public var badges: [String]
}

extension JSONSchema {
    static let ageBand = JSONSchema.open(1...16, "under_18", "18-24", "25-34", "35-44", "45-54", "55-64", "65+").named(
        "AgeBand", "About how old a person is.")
}
