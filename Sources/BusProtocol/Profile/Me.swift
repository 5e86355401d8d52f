import JSONText

/// The person's own profile (`GET /users/me`).
public struct GetMe: BusRequest {
    public typealias Reply = Me
    public static let type: MessageType = "profile.get-me"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public init() {}
}

/// Changes fields of the profile, all of them or none (`PATCH /users/me`). `null` clears a field.
///
/// Beside the fields of the catalogue it takes `height: {feet, inches}` and `timeZone`, by whose calendar the person's age is
/// counted.
public struct UpdateMe: BusRequest {
    public typealias Reply = Me
    public static let type: MessageType = "profile.update-me"
    public static let schema = JSONSchema.object([
        .required("fields", .map(of: .any, count: 0...64)), .optional("ifMatch", .string(1...64)),
    ])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .preconditionFailed, .dateOfBirthLocked, .underage])

    public var fields: [String: JSONValue]
    /// The entity tag of the profile that the client changed.
    public var ifMatch: String?

    public init(fields: [String: JSONValue], ifMatch: String? = nil) { (self.fields, self.ifMatch) = (fields, ifMatch) }
}

/// A profile as its owner sees it.
public struct Me: PublicReply {
    public static let schema = JSONSchema.object([
        .required("id", .uuid), .required("profile", .map(of: .any, count: 0...64), "Every field that is set"),
        .optional("age", .nullable(.integer(0...150))), .required("onboardingStatus", .string(1...32)),
        .required("onboardingStep", .string(1...32)), .required("matchingMode", .string(1...32)),
        .required("skippedFields", .array(of: .string(1...64), count: 0...64)),
        .required("preferNotToShareFields", .array(of: .string(1...64), count: 0...64)),
        .required("completion", .integer(0...100), "Per cent"), .optional("ageGate", AgeGate.schema),
        .optional("timeZone", .nullable(.string(1...64)), "Of the IANA database; days are counted in UTC without one"),
        .required("createdAt", .dateTime), .required("updatedAt", .dateTime),
        .required("revision", .integer(1...9_007_199_254_740_991)),
    ])
    public var id: Identifier
    public var profile: [String: JSONValue]
    public var age: Int64?
    public var onboardingStatus: String
    public var onboardingStep: String
    public var matchingMode: String
    public var skippedFields: [String]
    public var preferNotToShareFields: [String]
    public var completion: Int64
    public var ageGate: AgeGate?
    /// Came later and is optional.
    public var timeZone: String?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    /// Goes up with every change; the entity tag is made from it.
    public var revision: Int64
    public var entityRevision: Int64? { revision }

    public init(
        id: Identifier, profile: [String: JSONValue], age: Int64?, onboardingStatus: String, onboardingStep: String,
        matchingMode: String, skippedFields: [String], preferNotToShareFields: [String], completion: Int64,
        ageGate: AgeGate?, timeZone: String? = nil, createdAt: Timestamp, updatedAt: Timestamp, revision: Int64
    ) {
        self.id = id
        self.profile = profile
        self.age = age
        self.onboardingStatus = onboardingStatus
        self.onboardingStep = onboardingStep
        self.matchingMode = matchingMode
        self.skippedFields = skippedFields
        self.preferNotToShareFields = preferNotToShareFields
        self.completion = completion
        self.ageGate = ageGate
        self.timeZone = timeZone
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.revision = revision
    }

    public func encoded() -> [UInt8] {
        JSONObjectWriter.bytes { json in
            if let age { json.member("age", age) }
            if let ageGate {
                json.member("ageGate") { json in
                    json.member("allowed", ageGate.allowed)
                    json.member("eligibleOn", ageGate.eligibleOn.description)
                    json.member("message", ageGate.message)
                }
            }
            json.member("completion", completion)
            json.member("createdAt", createdAt.description)
            json.member("id", id.description)
            json.member("matchingMode", matchingMode)
            json.member("onboardingStatus", onboardingStatus)
            json.member("onboardingStep", onboardingStep)
            json.member("preferNotToShareFields", preferNotToShareFields)
            json.member("profile", profile)
            json.member("revision", revision)
            json.member("skippedFields", skippedFields)
            if let timeZone { json.member("timeZone", timeZone) }
            json.member("updatedAt", updatedAt.description)
        }
    }
}

/// Told to a person who is too young: the account is there, matching is not.
public struct AgeGate: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("allowed", .boolean), .required("message", .string(1...200)), .required("eligibleOn", .date),
    ])
    public var allowed: Bool
    public var message: String
    public var eligibleOn: CivilDate
    public init(allowed: Bool, message: String, eligibleOn: CivilDate) {
        (self.allowed, self.message, self.eligibleOn) = (allowed, message, eligibleOn)
    }
}
