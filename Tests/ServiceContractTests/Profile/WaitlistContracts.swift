import BusProtocol
import EventLoop

extension JoinWaitlist: MessageContract {
    static let canonical = JoinWaitlist(notify: true)
    static let minimal = JoinWaitlist(notify: false)
    static let maximal: JoinWaitlist = canonical

    static let canonicalReply = WaitlistPlace(eligibleOn: CivilDate("2027-03-01")!)
    static let minimalReply = WaitlistPlace(eligibleOn: CivilDate("0019-01-01")!)
    static let maximalReply = WaitlistPlace(eligibleOn: CivilDate("9999-12-31")!)

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.dateOfBirthMissing, "Please tell us your date of birth first."),
        BusError(.alreadyEligible, "You need not wait."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<JoinWaitlist> {
        Asked(JoinWaitlist(notify: true), for: try await profile.youngPerson())
    }

    static let provocations: [String: Provocation<ProfileProvider, JoinWaitlist>] = [
        "unauthorized": { _ in Asked(JoinWaitlist(notify: true)) },
        "date_of_birth_missing": { Asked(JoinWaitlist(notify: true), for: try await $0.person()) },
        "already_eligible": { profile in
            let person = try await profile.person(UpdateMe(fields: ["dateOfBirth": "1994-02-28"]))
            return Asked(JoinWaitlist(notify: true), for: person)
        },
    ]
}
