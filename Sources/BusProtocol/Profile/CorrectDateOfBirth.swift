import JSONText

/// Sets a date of birth that its person cannot change any more, for staff (`POST /admin/users/{id}/date-of-birth`). One under
/// 18 is taken under every age policy: who is found to be a child is not matched.
///
/// The access token of who decides goes along; profile asks auth whose it is.
public struct CorrectDateOfBirth: BusRequest {
    public typealias Reply = DateOfBirthCorrected
    public static let type: MessageType = "profile.correct-date-of-birth"
    public static let schema = JSONSchema.object([
        .required("personId", .uuid), .required("dateOfBirth", .date),
        .required("note", .string(1...1000), "Why; kept sealed with the profile"),
    ])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .validationFailed])

    public var personId: Identifier
    public var dateOfBirth: CivilDate
    public var note: String
    public init(personId: Identifier, dateOfBirth: CivilDate, note: String) {
        (self.personId, self.dateOfBirth, self.note) = (personId, dateOfBirth, note)
    }
}

/// The answer to ``CorrectDateOfBirth``. It is kept for who asks again, so that no date stands in it.
public struct DateOfBirthCorrected: PublicReply {
    public static let schema = JSONSchema.object([
        .required("personId", .uuid), .required("onboardingStatus", .string(1...32), "By the new date"),
    ])
    public var personId: Identifier
    public var onboardingStatus: String
    public init(personId: Identifier, onboardingStatus: String) {
        (self.personId, self.onboardingStatus) = (personId, onboardingStatus)
    }
}
