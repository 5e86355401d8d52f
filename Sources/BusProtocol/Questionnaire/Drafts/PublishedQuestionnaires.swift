import JSONText

/// Lists the questionnaires, each in its newest published version.
@Message
public struct ListQuestionnaires: PublicRequest {
    public typealias Reply = QuestionnaireList
    public static let type: MessageType = "questionnaire.list-questionnaires"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway, .profile], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/questionnaires", .user, "The published questionnaires.")

    /// The languages that the person prefers (RFC 9110).
    ///
    /// Used for the titles.
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// Asks for a questionnaire in its newest published version.
@Message
public struct GetQuestionnaire: PublicRequest {
    public typealias Reply = PublishedQuestionnaire
    public static let type: MessageType = "questionnaire.get-questionnaire"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}", .user, "A questionnaire in its newest version.", isRevalidated: true)

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
}

/// Asks for one version of a questionnaire, retired or not.
@Message
public struct GetQuestionnaireVersion: PublicRequest {
    public typealias Reply = PublishedQuestionnaire
    public static let type: MessageType = "questionnaire.get-version"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/questionnaires/{key}/versions/{n}", .user, "One version of a questionnaire.", isRevalidated: true)

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n"), example: "3") public var version: String
}

/// The reply to ``ListQuestionnaires``.
@Message
public struct QuestionnaireList: PublicReply {
    /// The questionnaires, by key.
    @Field(count: 0...1000) public var questionnaires: [QuestionnaireReference]
}

/// A published version. It never changes, so its hash is its entity tag.
///
/// Staff and operators read the whole definition, which has a tag of its own.
@Message
public struct PublishedQuestionnaire: PublicReply {
    /// The key of the questionnaire.
    @Field(.string(1...64), example: "yoked-compat") public var key: String
    /// The number of the version.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the definition's RFC 8785 form, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    /// When the version was published.
    public var publishedAt: Timestamp
    /// The definition in every language, without `status` and `contentHash`. Only staff read its scores, conditions and
    /// rules for versions.
    public var definition: JSONValue
    /// `true`: nothing of the definition is left out.
    public var isWhole: Bool?

    public var entityTag: EntityTag? {
        isWhole == true ? EntityTag(revision: version) : EntityTag(rawValue: hash)
    }
}

/// Members that the requests about versions and drafts share. A number in a path is a text.
enum VersionMembers {
    static let number = JSONSchema.integer(1...2_147_483_647)
    static let hash = JSONSchema.string(64...64)
}
