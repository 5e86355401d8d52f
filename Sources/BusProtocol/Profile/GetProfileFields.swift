import JSONText

/// The catalogue of profile fields, from which a client draws its forms (`GET /profile/fields`).
public struct GetProfileFields: BusRequest {
    public typealias Reply = ProfileFields
    public static let type: MessageType = "profile.get-fields"
    public static let schema = JSONSchema.object([
        .optional(
            "acceptLanguage", .string(0...4096), "As the header; English where it names no language that there is")
    ])
    public static let rules = MessageRules(service: .profile, callers: [.gateway], effect: .read)
    public var acceptLanguage: String?
    public init(acceptLanguage: String? = nil) { self.acceptLanguage = acceptLanguage }
}

/// One version of the catalogue in one language: the same for everybody.
public struct ProfileFields: PublicReply {
    public static let schema = JSONSchema.object([
        .required("key", .string(1...64)), .required("version", .integer(1...2_147_483_647)),
        .required("hash", .string(64...64), "SHA-256 of the other members in RFC 8785 form, in hexadecimal digits"),
        .required("language", .string(2...35), "The language of the labels (RFC 5646)"),
        .required("steps", .array(of: ProfileStepView.schema, count: 1...64)),
        .required("fields", .array(of: ProfileFieldView.schema, count: 1...64), "In the order in which they are asked"),
    ])
    public var key: String
    public var version: Int64
    public var hash: String
    public var language: String
    public var steps: [ProfileStepView]
    public var fields: [ProfileFieldView]
    /// From the hash, since a version has a text in each language.
    public var entityRevision: Int64? { Int64(hash.prefix(12), radix: 16).map { $0 + 1 } }

    public init(
        key: String, version: Int64, hash: String, language: String, steps: [ProfileStepView],
        fields: [ProfileFieldView]
    ) {
        (self.key, self.version, self.hash) = (key, version, hash)
        (self.language, self.steps, self.fields) = (language, steps, fields)
    }
}

/// One screen of the sign-up. Step 1 is the account itself and has no fields.
public struct ProfileStepView: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("step", .integer(1...64)), .required("key", .string(1...64)), .required("label", .string(1...200)),
        .required("fields", .array(of: .string(1...64), count: 0...64)), .required("required", .boolean),
        .required("skippable", .boolean, "Whether every field of the step may be left out"),
    ])
    public var step: Int64
    public var key: String
    public var label: String
    public var fields: [String]
    public var required: Bool
    public var skippable: Bool

    public init(step: Int64, key: String, label: String, fields: [String], required: Bool, skippable: Bool) {
        (self.step, self.key, self.label) = (step, key, label)
        (self.fields, self.required, self.skippable) = (fields, required, skippable)
    }
}

/// One value that a field of choice may have.
public struct ProfileOption: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("key", .string(1...64)), .required("label", .string(1...200)),
        .optional("exclusive", .boolean, "Stands alone where it is chosen"),
    ])
    public var key: String
    public var label: String
    public var exclusive: Bool?
    public init(key: String, label: String, exclusive: Bool? = nil) {
        (self.key, self.label, self.exclusive) = (key, label, exclusive)
    }
}

/// The control that each platform would use for a field.
public struct NativePattern: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("web", .string(1...64)), .required("ios", .string(1...64)), .required("android", .string(1...64)),
    ])
    public var web: String
    public var ios: String
    public var android: String
    public init(web: String, ios: String, android: String) { (self.web, self.ios, self.android) = (web, ios, android) }
}
