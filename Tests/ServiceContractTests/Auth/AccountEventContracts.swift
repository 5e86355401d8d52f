import BusProtocol
import EventLoop

extension AccountCreated: MessageContract {
    static let canonical = AccountCreated(personID: Sample.person, personSequence: 1, createdAt: Sample.everyday)
    static let minimal = AccountCreated(personID: Sample.person, createdAt: Sample.earliest)
    static let maximal = AccountCreated(
        personID: Sample.person, personSequence: Sample.largestInteger, createdAt: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<AccountCreated> {
        Asked(AccountCreated(personID: .random(), personSequence: 1, createdAt: .now()), as: .auth)
    }

    static let provocations: [String: Provocation<ProfileProvider, AccountCreated>] = [:]
}

extension VisitorIdentified: MessageContract {
    static let canonical = VisitorIdentified(personID: Sample.person, personSequence: 2, anonymousID: "a9b1f0d2")
    static let minimal = VisitorIdentified(personID: Sample.person, anonymousID: "a")
    static let maximal = VisitorIdentified(
        personID: Sample.person, personSequence: Sample.largestInteger, anonymousID: String(repeating: "ö", count: 64))

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<VisitorIdentified> {
        Asked(VisitorIdentified(personID: .random(), personSequence: 1, anonymousID: "a9b1f0d2"), as: .auth)
    }

    static let provocations: [String: Provocation<ProfileProvider, VisitorIdentified>] = [:]
}

extension NotifyPerson: MessageContract {
    static let canonical = NotifyPerson(
        notificationID: Sample.notification, personID: Sample.person, personSequence: 2, kind: "recovery_requested",
        data: [
            "claimantPhone": "+1 (***) ***-0199", "disputeToken": "dt_51ab",
            "recoveryId": Sample.recovery.description,
        ])
    static let minimal = NotifyPerson(
        notificationID: Sample.notification, personID: Sample.person, kind: "k", data: [:])
    static let maximal = NotifyPerson(
        notificationID: Sample.notification, personID: Sample.person, personSequence: Sample.largestInteger,
        kind: String(repeating: "k", count: 64), data: ["note": String(repeating: "ö", count: 1024)])

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<NotifyPerson> {
        let person = try await auth.session().user.id
        return Asked(
            NotifyPerson(
                notificationID: .ordered(), personID: person, personSequence: 1, kind: "recovery_requested",
                data: ["claimantPhone": "+1 (***) ***-0199", "disputeToken": "dt_0123456789"]), as: .recovery)
    }

    static let provocations: [String: Provocation<AuthProvider, NotifyPerson>] = [:]
}

extension NotificationDelivered: MessageContract {
    static let canonical = NotificationDelivered(
        personID: Sample.person, personSequence: 3, notificationID: Sample.notification, deviceID: Sample.device,
        outcome: "delivered", at: Sample.everyday)
    static let minimal = NotificationDelivered(
        personID: Sample.person, notificationID: Sample.notification, deviceID: Sample.device, outcome: "f",
        at: Sample.earliest)
    static let maximal = NotificationDelivered(
        personID: Sample.person, personSequence: Sample.largestInteger, notificationID: Sample.notification,
        deviceID: Sample.device, outcome: String(repeating: "o", count: 32), at: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<NotificationDelivered> {
        Asked(
            NotificationDelivered(
                personID: .random(), personSequence: 1, notificationID: .ordered(), deviceID: .ordered(),
                outcome: "delivered", at: .now()), as: .auth)
    }

    static let provocations: [String: Provocation<RecoveryProvider, NotificationDelivered>] = [:]
}
