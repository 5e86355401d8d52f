import JSONText

/// Staff sets a date of birth that its person can no longer change.
///
/// A date under the minimum age is accepted under every age policy, and the person is then not matched. The request carries the
/// staff member's access token, and profile asks auth whose it is.
@Message
public struct CorrectDateOfBirth: PublicRequest {
    public typealias Reply = DateOfBirthCorrected
    public static let type: MessageType = "profile.correct-date-of-birth"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed])
    public static let route = HTTPRoute(
        .post, "/admin/users/{id}/date-of-birth", .staff, "Corrects a date of birth.", carriesToken: true)

    /// The person.
    @Field(from: .path("id")) public var personId: Identifier
    /// The correct date.
    @Field(example: "1990-02-28") public var dateOfBirth: CivilDate
    /// Why; kept encrypted with the profile.
    @Field(.string(1...1000)) public var note: String
}

/// The reply to ``CorrectDateOfBirth``. It is stored for repetitions of the request, so it does not contain the date.
@Message
public struct DateOfBirthCorrected: PublicReply {
    /// The person.
    public var personId: Identifier
    /// The status that follows from the new date.
    @Field(.onboardingStatus) public var onboardingStatus: String
}
