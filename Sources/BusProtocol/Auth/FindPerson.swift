import JSONText

/// Finds whose a number or an id is, for staff (`POST /admin/people/search`): exactly one of the two is given. The number is
/// in the body, and so in no address that is logged on its way. Each search is a row of the audit trail.
///
/// The access token of who searches goes along; auth holds it against its own rows.
public struct FindPerson: BusRequest {
    public typealias Reply = PeopleFound
    public static let type: MessageType = "auth.find-person"
    public static let schema = JSONSchema.object([
        .optional("phone", .string(1...64), "In any spelling with a country code"), .optional("id", .uuid),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .validationFailed, .invalidPhone])

    public var phone: String?
    public var id: Identifier?
    public init(phone: String? = nil, id: Identifier? = nil) { (self.phone, self.id) = (phone, id) }
}

/// One person, or nobody.
public struct PeopleFound: PublicReply {
    public static let schema = JSONSchema.object([.required("people", .array(of: FoundPerson.schema, count: 0...1))])
    public var people: [FoundPerson]
    public init(people: [FoundPerson]) { self.people = people }
}

/// An account as staff sees it. It has no number: staff that has one gave it.
public struct FoundPerson: PublicReply {
    public static let schema = JSONSchema.object([
        .required("personId", .uuid), .required("status", .string(1...32), "active or suspended"),
        .required("role", .string(1...32), "user, staff or admin"), .required("createdAt", .dateTime),
    ])
    public var personId: Identifier
    public var status: String
    public var role: String
    public var createdAt: Timestamp

    public init(personId: Identifier, status: String, role: String, createdAt: Timestamp) {
        (self.personId, self.status, self.role, self.createdAt) = (personId, status, role, createdAt)
    }
}
