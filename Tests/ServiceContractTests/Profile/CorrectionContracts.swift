import BusProtocol
import EventLoop

extension CorrectDateOfBirth: MessageContract {
    private static let born = CivilDate("1994-02-28")!
    static let canonical = CorrectDateOfBirth(
        personId: Sample.person, dateOfBirth: born, note: "Day and month had changed places.")
    static let minimal = CorrectDateOfBirth(
        personId: Sample.person, dateOfBirth: CivilDate("0001-01-01")!, note: "n")
    static let maximal = CorrectDateOfBirth(
        personId: Sample.person, dateOfBirth: CivilDate("9999-12-31")!, note: String(repeating: "ö", count: 1000))

    static let canonicalReply = DateOfBirthCorrected(
        personId: Sample.person, onboardingStatus: "questionnaire_pending")
    static let minimalReply = DateOfBirthCorrected(personId: Sample.person, onboardingStatus: "o")
    static let maximalReply = DateOfBirthCorrected(
        personId: Sample.person, onboardingStatus: String(repeating: "o", count: 32))

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.forbidden, "Somebody else must decide about your profile."),
        BusError(.notFound, "There is no such person."),
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [
                .init(
                    field: "dateOfBirth", code: "too_large", message: "Must be the date of birth of a living person.")
            ]),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func asked(_ message: CorrectDateOfBirth, by staff: Actor) -> Asked<CorrectDateOfBirth> {
        Asked(message, for: staff.userID, in: staff.sessionID, role: staff.role, key: "key-\(Identifier.random())")
    }

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<CorrectDateOfBirth> {
        let person = try await profile.person(UpdateMe(fields: ["dateOfBirth": "1994-02-08"]))
        return asked(CorrectDateOfBirth(personId: person, dateOfBirth: born, note: "A slip."), by: profile.staff())
    }

    static let provocations: [String: Provocation<ProfileProvider, CorrectDateOfBirth>] = [
        "unauthorized": { _ in Asked(canonical, key: "key-\(Identifier.random())") },
        "forbidden": { profile in
            let staff = profile.staff()
            return asked(CorrectDateOfBirth(personId: staff.userID, dateOfBirth: born, note: "Me."), by: staff)
        },
        "not_found": { asked(canonical, by: $0.staff()) },
        "validation_failed": { profile in
            let person = try await profile.person()
            return asked(
                CorrectDateOfBirth(personId: person, dateOfBirth: CivilDate("9999-12-31")!, note: "No."),
                by: profile.staff())
        },
    ]
}
