import JSONText

/// What the newest result of a session says of fields of the profile, where its definition says so (`extract`).
///
/// Handled by QuestionnaireService, for profile: answers never travel in events. Of a session that there is not, or that was
/// never completed, nothing is said.
public struct GetExtracts: BusRequest {
    public typealias Reply = ProfileExtracts
    public static let type: MessageType = "questionnaire.get-extracts"
    public static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)
    public static let schema = JSONSchema.object([.required("personID", .uuid), .required("sessionID", .uuid)])

    public var personID: Identifier
    public var sessionID: Identifier

    public init(personID: Identifier, sessionID: Identifier) {
        (self.personID, self.sessionID) = (personID, sessionID)
    }
}

/// The answer to ``GetExtracts``, in question order.
public struct ProfileExtracts: BusReply {
    public static let schema = JSONSchema.object([
        .required("extracts", .array(of: ProfileExtract.schema, count: 0...500), "Each field once, in question order.")
    ])

    /// Each field once, in question order.
    public var extracts: [ProfileExtract]

    public init(extracts: [ProfileExtract]) { self.extracts = extracts }
}

/// An answer, and the field of the profile that it stands for.
public struct ProfileExtract: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("field", .string(1...64), "As the definition names it; whether there is such a one profile knows."),
        .required("value", .any, "In the form of the question's type; a height in whole inches."),
    ])

    /// As the definition names it; whether there is such a one profile knows.
    public var field: String
    /// In the form of the question's type; a height in whole inches.
    public var value: JSONValue

    public init(field: String, value: JSONValue) { (self.field, self.value) = (field, value) }
}
