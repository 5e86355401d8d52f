import JSONText

/// How far the profile is (`GET /users/me/completion`).
public struct GetCompletion: BusRequest {
    public typealias Reply = Completion
    public static let type: MessageType = "profile.get-completion"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public init() {}
}

/// Leaves a field out for now (`POST /users/me/skips`).
public struct SkipField: BusRequest {
    public typealias Reply = Completion
    public static let type: MessageType = "profile.skip-field"
    public static let schema = JSONSchema.object([
        .required("field", .string(1...64)),
        .optional("clear", .boolean, "Skips a field that has an answer too; the answer is lost"),
    ])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .fieldNotSkippable, .hasValue])
    public var field: String
    public var clear: Bool?
    public init(field: String, clear: Bool? = nil) { (self.field, self.clear) = (field, clear) }
}

/// What is there, what is missing, and what to ask next.
public struct Completion: PublicReply {
    public static let schema = JSONSchema.object([
        .required("currentStep", .integer(0...64), "The last step that is complete"),
        .required("totalSteps", .integer(1...64)), .required("percentage", .integer(0...100)),
        .required("missingRequired", .array(of: .string(1...64), count: 0...64)),
        .optional("nextField", .nullable(.string(1...64))), .optional("nextStep", .nullable(.integer(1...64))),
        .optional("lastCompleted", .nullable(.string(1...64)), "The field furthest along that something was said of"),
        .optional("prompt", .nullable(Prompt.schema)),
        .required("skippedFields", .array(of: .string(1...64), count: 0...64)),
        .required("preferNotToShareFields", .array(of: .string(1...64), count: 0...64)),
        .required("isComplete", .boolean), .optional("completedAt", .nullable(.dateTime)),
    ])
    public var currentStep: Int64
    public var totalSteps: Int64
    public var percentage: Int64
    public var missingRequired: [String]
    public var nextField: String?
    public var nextStep: Int64?
    public var lastCompleted: String?
    public var prompt: Prompt?
    public var skippedFields: [String]
    public var preferNotToShareFields: [String]
    public var isComplete: Bool
    public var completedAt: Timestamp?

    /// What to ask the person for at the next launch.
    public struct Prompt: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("field", .string(1...64)), .required("step", .integer(1...64)), .required("blocking", .boolean),
            .required("reason", .values("required", "encouraged")),
        ])
        public var field: String
        public var step: Int64
        public var blocking: Bool
        public var reason: String
        public init(field: String, step: Int64, blocking: Bool, reason: String) {
            (self.field, self.step, self.blocking, self.reason) = (field, step, blocking, reason)
        }
    }

    public init(
        currentStep: Int64, totalSteps: Int64, percentage: Int64, missingRequired: [String], nextField: String?,
        nextStep: Int64?, lastCompleted: String?, prompt: Prompt?, skippedFields: [String],
        preferNotToShareFields: [String], isComplete: Bool,
        completedAt: Timestamp?
    ) {
        self.currentStep = currentStep
        self.totalSteps = totalSteps
        self.percentage = percentage
        self.missingRequired = missingRequired
        self.nextField = nextField
        self.nextStep = nextStep
        self.lastCompleted = lastCompleted
        self.prompt = prompt
        self.skippedFields = skippedFields
        self.preferNotToShareFields = preferNotToShareFields
        self.isComplete = isComplete
        self.completedAt = completedAt
    }
}
