import BusProtocol
import BusRuntime
import EventLoop

/// Shows an owner the cases against the account as they are.
struct ListOwnCasesHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: ListOwnCases, context: RequestContext) async throws -> OwnRecoveryCases {
        let person = try context.person().userID
        return OwnRecoveryCases(
            cases: try await store.cases(against: person), lockEnabled: try await store.isLocked(person))
    }
}

/// Every device hears of it: whoever has one of them must not do this alone.
struct SetRecoveryLockHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: SetRecoveryLock, context: RequestContext) async throws -> RecoveryLock {
        let person = try context.person().userID
        try await store.house.database.transaction { transaction in
            guard try await store.setLock(of: person, request.enabled, in: transaction) else { return }
            try await store.house.outbox.tell(
                NotifyPerson(
                    notificationID: .ordered(), personID: person,
                    kind: request.enabled ? "recovery_lock_on" : "recovery_lock_off", data: [:]), in: transaction)
        }
        return RecoveryLock(enabled: request.enabled)
    }
}
