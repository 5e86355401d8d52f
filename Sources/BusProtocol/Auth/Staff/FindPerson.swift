import JSONText

/// Finds whose a number or an id is, for staff: exactly one of the two is given. The number is
/// in the body, and so in no address that is logged on its way. Each search is a row of the audit trail.
///
/// The access token of who searches goes along; auth holds it against its own rows.
@Message
public struct FindPerson: PublicRequest {
    public typealias Reply = PeopleFound
    public static let type: MessageType = "auth.find-person"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .validationFailed, .invalidPhone])
    public static let route = HTTPRoute(
        .post, "/admin/people/search", .staff, "Finds a person by number or id.", carriesToken: true)

    /// In any spelling with a country code.
    @Field(.string(1...64)) public var phone: String?
    public var id: Identifier?
}

/// One person, or nobody.
@Message
public struct PeopleFound: PublicReply {
    @Field(count: 0...1) public var people: [FoundPerson]
}

/// An account as staff sees it. It has no number: staff that has one gave it.
@Message
public struct FoundPerson: PublicReply {
    public var personId: Identifier
    /// active or suspended.
    @Field(.string(1...32)) public var status: String
    /// user, staff or admin.
    @Field(.string(1...32)) public var role: String
    public var createdAt: Timestamp
}
