import JSONText

/// Every questionnaire in its newest published version.
@Message
public struct ListQuestionnaires: PublicRequest {
    public typealias Reply = QuestionnaireList
    public static let type: MessageType = "questionnaire.list-questionnaires"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/questionnaires", .user, "The published questionnaires.")

    /// The languages that the person would rather read (RFC 9110).
    ///
    /// The header `Accept-Language`, for the titles.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// A questionnaire in its newest published version.
@Message
public struct GetQuestionnaire: PublicRequest {
    public typealias Reply = PublishedQuestionnaire
    public static let type: MessageType = "questionnaire.get-questionnaire"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}", .user, "A questionnaire in its newest version.", isRevalidated: true)

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
}

/// One version of a questionnaire, retired or not.
@Message
public struct GetQuestionnaireVersion: PublicRequest {
    public typealias Reply = PublishedQuestionnaire
    public static let type: MessageType = "questionnaire.get-version"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}/versions/{n}", .user, "One version of a questionnaire.", isRevalidated: true)

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    ///
    /// In decimal digits, as it stands in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// The answer to ``ListQuestionnaires``, by key.
@Message
public struct QuestionnaireList: PublicReply {
    @Field(count: 0...1000) public var questionnaires: [QuestionnaireReference]
}

/// A published version as it will always be: its entity tag is its hash.
@Message
public struct PublishedQuestionnaire: PublicReply {
    @Field(.string(1...64)) public var key: String
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the definition's RFC 8785 form, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    public var publishedAt: Timestamp
    /// In every language, without `status` and `contentHash`.
    public var definition: JSONValue

    public var entityTag: EntityTag? { EntityTag(rawValue: hash) }
}

/// Members that the requests about versions and drafts share. Numbers stand in paths, so they are texts here.
enum VersionMembers {
    static let number = JSONSchema.integer(1...2_147_483_647)
    static let hash = JSONSchema.string(64...64)
}
