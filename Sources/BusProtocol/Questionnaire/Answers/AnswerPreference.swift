import JSONText

/// What somebody wants of another person's answer to the same question, and how much it matters.
@Message
public struct AnswerPreference: MessageValue {
    /// Keys of the options that the other may choose.
    @Field(.string(1...64), count: 1...500) public var acceptable: [String]
    /// One of those that the question names; 0: it does not matter.
    @Field(.integer(0...1000)) public var importance: Int64
}

/// That a question asks what one wants of another person's answer.
@Message
public struct QuestionPreference: MessageValue {
    /// How much it may matter, rising.
    @Field(.integer(0...1000), count: 1...10) public var importance: [Int64]
}
