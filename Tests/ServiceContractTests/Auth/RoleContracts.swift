import BusProtocol
import EventLoop

extension ChangeRole: MessageContract {
    static let canonical = ChangeRole(userID: Sample.person, role: .staff, isGranted: true, operatorName: "anna")
    static let minimal = ChangeRole(userID: Sample.person, role: .staff, isGranted: false, operatorName: "a")
    static let maximal = ChangeRole(
        userID: Sample.person, role: .admin, isGranted: true, operatorName: String(repeating: "~", count: 64))

    static let canonicalReply = RoleChanged(role: .staff, status: "changed")
    static let minimalReply = RoleChanged(role: .user, status: "u")
    static let maximalReply = RoleChanged(role: .admin, status: String(repeating: "a", count: 32))

    static let errors: [BusError] = [BusError(.notFound, "There is no such account.")]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ChangeRole> {
        let person = try await auth.session().user.id
        return Asked(
            ChangeRole(userID: person, role: .staff, isGranted: true, operatorName: "anna"), as: .operator,
            key: auth.key())
    }

    static let provocations: [String: Provocation<AuthProvider, ChangeRole>] = [
        "not_found": { Asked(canonical, as: .operator, key: $0.key()) }
    ]
}

extension ListRoles: MessageContract {
    static let canonical = ListRoles()
    static let minimal = ListRoles()
    static let maximal = ListRoles()

    static let canonicalReply = RoleList(
        people: [.init(userID: Sample.person, role: .staff)],
        awaiting: [.init(userID: Sample.person, isGranted: true, operatorName: "anna", until: Sample.everyday)])
    static let minimalReply = RoleList(people: [], awaiting: [])
    static let maximalReply = RoleList(
        people: [.init(userID: Sample.person, role: .admin), .init(userID: Sample.person, role: .staff)],
        awaiting: [
            .init(
                userID: Sample.person, isGranted: false, operatorName: String(repeating: "~", count: 64),
                until: Sample.latest)
        ])

    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ListRoles> {
        let person = try await auth.session().user.id
        let admin = ChangeRole(userID: person, role: .admin, isGranted: true, operatorName: "anna")
        try await auth.reply(to: Asked(admin, as: .operator, key: auth.key()))
        return Asked(ListRoles(), as: .operator)
    }

    static let provocations: [String: Provocation<AuthProvider, ListRoles>] = [:]
}
