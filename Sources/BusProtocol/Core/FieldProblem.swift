import JSONText

/// One thing that is wrong with one member of the request.
@Message
public struct FieldProblem: MessageValue {
    /// Names and positions, joined by dots: `answers.0.value`. Of answers that are missing, the place.
    @Field(.string(0...4096), example: "answers.0.value") public var field: String
    /// The same place as a JSON pointer (RFC 6901): `/answers/0/value`.
    @Field(.string(0...8192)) public var pointer: String
    /// What is wrong, for a program: `required`, `too_long`. An open set.
    @Field(.string(1...64), example: "required") public var code: String
    /// What is wrong, for a person.
    @Field(.string(1...1000)) public var message: String
}
