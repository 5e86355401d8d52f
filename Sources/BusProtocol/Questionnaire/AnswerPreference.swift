import JSONText

/// What somebody wants of another person's answer to the same question, and how much it matters.
public struct AnswerPreference: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required(
            "acceptable", .array(of: .string(1...64), count: 1...500), "Keys of the options that the other may choose."),
        .required("importance", .integer(0...1000), "One of those that the question names; 0: it does not matter."),
    ])

    /// Keys of the options that the other may choose.
    public var acceptable: [String]
    /// One of those that the question names; 0: it does not matter.
    public var importance: Int64

    public init(acceptable: [String], importance: Int64) {
        (self.acceptable, self.importance) = (acceptable, importance)
    }
}

/// That a question asks what one wants of another person's answer.
public struct QuestionPreference: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("importance", .array(of: .integer(0...1000), count: 1...10), "How much it may matter, rising.")
    ])

    /// How much it may matter, rising.
    public var importance: [Int64]

    public init(importance: [Int64]) { self.importance = importance }
}
