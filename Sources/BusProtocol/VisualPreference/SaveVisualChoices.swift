import JSONText

/// Saves what the person chose, or defers the rest.
///
/// Each choice succeeds or fails by itself. The first choice of a comparison counts, from whichever device it comes.
@Message
public struct SaveVisualChoices: PublicRequest {
    public typealias Reply = VisualChoicesSaved
    public static let type: MessageType = "visual-preference.save-choices"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .validationFailed])
    public static let route = HTTPRoute(
        .post, "/visual-preferences/choices", .user, "Saves choices between pictures, or defers the rest.")

    /// The session.
    public var sessionId: Identifier
    /// The choices, in the order in which they were made.
    @Field(count: 1...25, inExamples: true) public var choices: [VisualChoice]?
    /// True to go on without the rest for now.
    @Field(example: false) public var `defer`: Bool?
}

/// What the person chose of two pictures.
@Message
public struct VisualChoice: MessageValue {
    /// The comparison.
    public var presentationId: Identifier
    /// What the person chose.
    @Field(.values("left", "right", "neither").named("VisualSide", "One of two pictures, or neither."), example: "left")
    public var choice: String
    /// How long the person took, in milliseconds.
    @Field(.integer(0...86_400_000), example: 1400) public var latencyMs: Int64
    /// Makes the choice safe to repeat. Each choice has its own.
    public var mutationId: Identifier
}

/// The session after the choices.
@Message
public struct VisualChoicesSaved: PublicReply {
    /// A result for each choice.
    @Field(count: 0...25) public var results: [VisualChoiceResult]
    /// The session now, with the next comparisons.
    public var session: VisualSession
}

/// Whether one choice was saved.
@Message
public struct VisualChoiceResult: MessageValue {
    /// The comparison.
    public var presentationId: Identifier
    /// The mutation ID of the choice.
    public var mutationId: Identifier
    /// Whether this choice is the one that counts.
    @Field(example: true) public var saved: Bool
    /// Why it was not saved: `answer_conflict` if the comparison has another choice, `not_found` if the session has no such comparison.
    @Field(.open(1...64, "answer_conflict", "mutation_id_reused", "not_found"), example: "answer_conflict")
    public var code: String?
}
