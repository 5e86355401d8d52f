import JSONText

/// Every questionnaire in its newest published version (`GET /questionnaires`).
public struct ListQuestionnaires: BusRequest {
    public typealias Reply = QuestionnaireList
    public static let type: MessageType = "questionnaire.list-questionnaires"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let schema = JSONSchema.object([SessionMembers.acceptLanguage])

    /// The header `Accept-Language`, for the titles.
    public var acceptLanguage: String?

    public init(acceptLanguage: String? = nil) { self.acceptLanguage = acceptLanguage }
}

/// A questionnaire in its newest published version (`GET /questionnaires/{key}`).
public struct GetQuestionnaire: BusRequest {
    public typealias Reply = PublishedQuestionnaire
    public static let type: MessageType = "questionnaire.get-questionnaire"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let schema = JSONSchema.object([SessionMembers.questionnaire])

    /// Key of the questionnaire.
    public var questionnaire: String

    public init(questionnaire: String) { self.questionnaire = questionnaire }
}

/// One version of a questionnaire, retired or not (`GET /questionnaires/{key}/versions/{n}`).
public struct GetQuestionnaireVersion: BusRequest {
    public typealias Reply = PublishedQuestionnaire
    public static let type: MessageType = "questionnaire.get-version"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let schema = JSONSchema.object([SessionMembers.questionnaire, VersionMembers.version])

    /// Key of the questionnaire.
    public var questionnaire: String
    /// In decimal digits, as it stands in the path.
    public var version: String

    public init(questionnaire: String, version: String) {
        (self.questionnaire, self.version) = (questionnaire, version)
    }
}

/// The answer to ``ListQuestionnaires``, by key.
public struct QuestionnaireList: PublicReply {
    public static let schema = JSONSchema.object([
        .required("questionnaires", .array(of: QuestionnaireReference.schema, count: 0...1000))
    ])
    public var questionnaires: [QuestionnaireReference]
    public init(questionnaires: [QuestionnaireReference]) { self.questionnaires = questionnaires }
}

/// A published version as it will always be: its entity tag is its hash.
public struct PublishedQuestionnaire: PublicReply {
    public static let schema = JSONSchema.object([
        .required("key", .string(1...64)),
        .required("version", .integer(1...2_147_483_647)),
        .required("hash", .string(64...64), "SHA-256 of the definition's RFC 8785 form, in hexadecimal digits."),
        .required("publishedAt", .dateTime),
        .required("definition", .any, "In every language, without `status` and `contentHash`."),
    ])

    public var key: String
    public var version: Int64
    /// SHA-256 of the definition's RFC 8785 form, 64 hexadecimal digits.
    public var hash: String
    public var publishedAt: Timestamp
    /// In every language.
    public var definition: JSONValue

    public var entityTag: String? { hash }

    public init(key: String, version: Int64, hash: String, publishedAt: Timestamp, definition: JSONValue) {
        self.key = key
        self.version = version
        self.hash = hash
        self.publishedAt = publishedAt
        self.definition = definition
    }
}

/// Members that the requests about versions and drafts share. Numbers stand in paths, so they are texts here.
enum VersionMembers {
    static let version = JSONSchema.Member.required("version", .string(1...10), "A number from 1.")
    static let draft = JSONSchema.Member.required("draft", .string(1...10), "A number from 1.")
    static let number = JSONSchema.integer(1...2_147_483_647)
    static let hash = JSONSchema.string(64...64)
}
