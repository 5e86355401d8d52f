import JSONText

/// Sets a date of birth that its person cannot change any more, for staff. One under
/// 18 is taken under every age policy: who is found to be a child is not matched.
///
/// The access token of who decides goes along; profile asks auth whose it is.
@Message
public struct CorrectDateOfBirth: PublicRequest {
    public typealias Reply = DateOfBirthCorrected
    public static let type: MessageType = "profile.correct-date-of-birth"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed])
    public static let route = HTTPRoute(
        .post, "/admin/users/{id}/date-of-birth", .staff, "Corrects a date of birth.", carriesToken: true)

    @Field(from: .path("id")) public var personId: Identifier
    public var dateOfBirth: CivilDate
    /// Why; kept sealed with the profile.
    @Field(.string(1...1000)) public var note: String
}

/// The answer to ``CorrectDateOfBirth``. It is kept for who asks again, so that no date stands in it.
@Message
public struct DateOfBirthCorrected: PublicReply {
    public var personId: Identifier
    /// By the new date.
    @Field(.string(1...32)) public var onboardingStatus: String
}
