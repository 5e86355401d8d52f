import BusProtocol
import EventLoop

enum ListOwnCasesContract: MessageContract {
    static let canonical = ListOwnCases()
    static let minimal = ListOwnCases()
    static let maximal = ListOwnCases()

    static let canonicalReply = OwnRecoveryCases(
        cases: [
            .init(
                recoveryId: Sample.recovery, status: "held", requestedAt: Sample.everyday,
                holdUntil: Sample.everyday + .seconds(259_200), closedAt: nil)
        ], lockEnabled: false)
    static let minimalReply = OwnRecoveryCases(cases: [], lockEnabled: false)
    static let maximalReply = OwnRecoveryCases(
        cases: (0..<100).map { _ in
            .init(
                recoveryId: Sample.recovery, status: String(repeating: "h", count: 32), requestedAt: Sample.latest,
                holdUntil: Sample.latest, closedAt: Sample.latest)
        }, lockEnabled: true)

    static let errors: [BusError] = [Sample.unauthorized]

    static let route: String? = "GET /users/me/recovery-cases 200"
    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<ListOwnCases> {
        _ = try await recovery.heldCase()
        return Asked(ListOwnCases(), for: recovery.owner)
    }

    static let provocations: [String: Provocation<RecoveryProvider, ListOwnCases>] = [
        "unauthorized": { _ in Asked(ListOwnCases()) }
    ]
}

enum SetRecoveryLockContract: MessageContract {
    static let canonical = SetRecoveryLock(enabled: true)
    static let minimal = SetRecoveryLock(enabled: false)
    static let maximal = SetRecoveryLock(enabled: true)

    static let canonicalReply = RecoveryLock(enabled: true)
    static let minimalReply = RecoveryLock(enabled: false)
    static let maximalReply = RecoveryLock(enabled: true)

    static let errors: [BusError] = [Sample.unauthorized]

    static let route: String? = "PUT /users/me/recovery-lock 200"
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<SetRecoveryLock> {
        Asked(SetRecoveryLock(enabled: true), for: recovery.owner)
    }

    static let provocations: [String: Provocation<RecoveryProvider, SetRecoveryLock>] = [
        "unauthorized": { _ in Asked(SetRecoveryLock(enabled: true)) }
    ]
}
