import JSONText

/// What a person wants of another person's answer to the same question, and how important it is.
@Message
public struct AnswerPreference: MessageValue {
    /// The keys of the options that the other person may have chosen.
    @Field(.string(1...64), count: 1...500, example: "never") public var acceptable: [String]
    /// One of the question's values for importance. 0 means that it does not matter.
    @Field(.integer(0...1000)) public var importance: Int64
}

/// The question also asks what the person wants of another person's answer.
@Message
public struct QuestionPreference: MessageValue {
    /// The values for importance, in rising order.
    @Field(.integer(0...1000), count: 1...10) public var importance: [Int64]
}
