import BusProtocol
import EventLoop

/// Values that both decisions about an account's standing share.
private enum Decision {
    static let note = "Several people say that this is not who it claims to be."
    static let longest = String(repeating: "ö", count: 1000)
    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.forbidden, "Somebody else must decide about your account."),
        BusError(.notFound, "There is no such account."),
    ]

    @Loop static func asked<Message: BusRequest>(_ message: Message, by staff: Session, _ auth: AuthProvider)
        -> Asked<Message>
    {
        Asked(message, for: staff.user.id, in: staff.sessionId, role: .staff, key: auth.key())
    }
}

extension SuspendAccount: MessageContract {
    static let canonical = SuspendAccount(personId: Sample.person, note: Decision.note)
    static let minimal = SuspendAccount(personId: Sample.person, note: "n")
    static let maximal = SuspendAccount(personId: Sample.person, note: Decision.longest)

    static let canonicalReply = AccountStanding(personId: Sample.person, status: "suspended")
    static let minimalReply = AccountStanding(personId: Sample.person, status: "s")
    static let maximalReply = AccountStanding(personId: Sample.person, status: String(repeating: "s", count: 32))

    static let errors: [BusError] = Decision.errors

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<SuspendAccount> {
        let person = try await auth.session().user.id
        return Decision.asked(SuspendAccount(personId: person, note: Decision.note), by: try await auth.staff(), auth)
    }

    static let provocations: [String: Provocation<AuthProvider, SuspendAccount>] = [
        "unauthorized": { Asked(canonical, key: $0.key()) },
        "forbidden": { auth in
            let staff = try await auth.staff()
            return Decision.asked(SuspendAccount(personId: staff.user.id, note: "Me."), by: staff, auth)
        },
        "not_found": { Decision.asked(canonical, by: try await $0.staff(), $0) },
    ]
}

extension RestoreAccount: MessageContract {
    static let canonical = RestoreAccount(personId: Sample.person, note: Decision.note)
    static let minimal = RestoreAccount(personId: Sample.person, note: "n")
    static let maximal = RestoreAccount(personId: Sample.person, note: Decision.longest)

    static let canonicalReply = AccountStanding(personId: Sample.person, status: "active")
    static let minimalReply = AccountStanding(personId: Sample.person, status: "a")
    static let maximalReply = AccountStanding(personId: Sample.person, status: String(repeating: "a", count: 32))

    static let errors: [BusError] = Decision.errors

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<RestoreAccount> {
        let person = try await auth.session().user.id
        let staff = try await auth.staff()
        try await auth.reply(to: Decision.asked(SuspendAccount(personId: person, note: "Look."), by: staff, auth))
        return Decision.asked(RestoreAccount(personId: person, note: Decision.note), by: staff, auth)
    }

    static let provocations: [String: Provocation<AuthProvider, RestoreAccount>] = [
        "unauthorized": { Asked(canonical, key: $0.key()) },
        "forbidden": { auth in
            let staff = try await auth.staff()
            return Decision.asked(RestoreAccount(personId: staff.user.id, note: "Me."), by: staff, auth)
        },
        "not_found": { Decision.asked(canonical, by: try await $0.staff(), $0) },
    ]
}

extension ChangeStandingAsOperator: MessageContract {
    static let canonical = ChangeStandingAsOperator(
        personId: Sample.person, isSuspended: true, note: Decision.note, operatorName: "anna")
    static let minimal = ChangeStandingAsOperator(
        personId: Sample.person, isSuspended: false, note: "n", operatorName: "a")
    static let maximal = ChangeStandingAsOperator(
        personId: Sample.person, isSuspended: true, note: Decision.longest,
        operatorName: String(repeating: "~", count: 64))

    static let canonicalReply: AccountStanding = SuspendAccount.canonicalReply
    static let minimalReply: AccountStanding = SuspendAccount.minimalReply
    static let maximalReply: AccountStanding = SuspendAccount.maximalReply

    static let errors: [BusError] = [
        BusError(.forbidden, "This person has a role. An operator must take it away first."),
        BusError(.notFound, "There is no such account."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    @Loop private static func suspend(_ person: Identifier, _ auth: AuthProvider) -> Asked<ChangeStandingAsOperator> {
        let message = ChangeStandingAsOperator(
            personId: person, isSuspended: true, note: Decision.note, operatorName: "anna")
        return Asked(message, as: .operator, key: auth.key())
    }

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ChangeStandingAsOperator> {
        suspend(try await auth.session().user.id, auth)
    }

    static let provocations: [String: Provocation<AuthProvider, ChangeStandingAsOperator>] = [
        "forbidden": { suspend(try await $0.staff().user.id, $0) },
        "not_found": { suspend(.random(), $0) },
    ]
}

extension FindPerson: MessageContract {
    static let canonical = FindPerson(phone: "+1 415 555 2671")
    static let minimal = FindPerson()
    static let maximal = FindPerson(phone: String(repeating: "1", count: 64), id: Sample.person)

    static let canonicalReply = PeopleFound(people: [
        FoundPerson(personId: Sample.person, status: "active", role: .user, createdAt: Sample.everyday)
    ])
    static let minimalReply = PeopleFound(people: [])
    static let maximalReply = PeopleFound(people: [
        FoundPerson(
            personId: Sample.person, status: String(repeating: "s", count: 32),
            role: Role(rawValue: String(repeating: "r", count: 32)),
            createdAt: Sample.latest)
    ])

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.forbidden, "This takes a member of the staff."),
        BusError(
            .validationFailed, "Exactly one of phone and id is needed.",
            errors: [
                .init(field: "phone", code: "not_allowed", message: "Exactly one of phone and id is needed.")
            ]),
        BusError(.invalidPhone, "Please enter a valid phone number"),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = ["people"]

    static func everyday(_ auth: AuthProvider) async throws -> Asked<FindPerson> {
        let person = try await auth.session().user.id
        return Decision.asked(FindPerson(id: person), by: try await auth.staff(), auth)
    }

    static let provocations: [String: Provocation<AuthProvider, FindPerson>] = [
        "unauthorized": { Asked(canonical, key: $0.key()) },
        "forbidden": { auth in
            let user = try await auth.session()
            return Asked(FindPerson(id: Sample.person), for: user.user.id, in: user.sessionId, key: auth.key())
        },
        "validation_failed": { Decision.asked(minimal, by: try await $0.staff(), $0) },
        "invalid_phone": { Decision.asked(FindPerson(phone: "12"), by: try await $0.staff(), $0) },
    ]
}

extension AccountStatusChanged: MessageContract {
    static let canonical = AccountStatusChanged(
        personID: Sample.person, personSequence: 3, status: "suspended", changedAt: Sample.everyday)
    static let minimal = AccountStatusChanged(personID: Sample.person, status: "s", changedAt: Sample.earliest)
    static let maximal = AccountStatusChanged(
        personID: Sample.person, personSequence: Sample.largestInteger, status: String(repeating: "s", count: 32),
        changedAt: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<AccountStatusChanged> {
        Asked(
            AccountStatusChanged(personID: .random(), personSequence: 1, status: "suspended", changedAt: .now()),
            as: .auth)
    }

    static let provocations: [String: Provocation<ProfileProvider, AccountStatusChanged>] = [:]
}
