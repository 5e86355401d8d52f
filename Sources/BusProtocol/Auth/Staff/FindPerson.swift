import JSONText

/// Staff finds a person by number or by ID. Exactly one of the two is given.
///
/// The number is in the body, so no log of addresses contains it. Each search is recorded in the audit trail. The
/// request carries the staff member's access token, and auth checks it against its own rows.
@Message
public struct FindPerson: PublicRequest {
    public typealias Reply = PeopleFound
    public static let type: MessageType = "auth.find-person"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .validationFailed, .invalidPhone])
    public static let route = HTTPRoute(
        .post, "/admin/people/search", .staff, "Finds a person by number or id.", carriesToken: true)

    /// The number, in any spelling with a country code.
    @Field(.string(1...64)) public var phone: String?
    /// The person's ID.
    @Field(inExamples: false) public var id: Identifier?
}

/// One person, or nobody.
@Message
public struct PeopleFound: PublicReply {
    /// The person, or nobody.
    @Field(count: 0...1) public var people: [FoundPerson]
}

/// An account as staff sees it. It has no number: staff that searches by number has it already.
@Message
public struct FoundPerson: PublicReply {
    /// The person.
    public var personId: Identifier
    /// `active` or `suspended`.
    @Field(.accountStatus) public var status: String
    /// `user`, `staff` or `admin`.
    public var role: Role
    /// When the account was created.
    public var createdAt: Timestamp
}
