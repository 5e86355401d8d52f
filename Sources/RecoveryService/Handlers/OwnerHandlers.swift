import BusProtocol
import BusRuntime
import EventLoop

/// Shows an owner the cases against the account as they are.
struct ListOwnCasesHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: ListOwnCases, context: RequestContext) async throws -> OwnRecoveryCases {
        let person = try context.person().userID
        let lock = try await store.lock(of: person)
        return OwnRecoveryCases(
            cases: try await store.cases(against: person), lockEnabled: lock.isOn, lockEndsAt: lock.endsAt)
    }
}

/// Every device hears of it: whoever has one of them must not do this alone.
struct SetRecoveryLockHandler: RequestHandler {
    let store: CaseStore
    let bearers: BearerReader

    func handle(_ request: SetRecoveryLock, context: RequestContext) async throws -> RecoveryLock {
        let bearer = try await bearers.bearer(of: context)
        let lock = try await store.container.database.transaction { transaction in
            let (known, now) = try await store.lock(of: bearer.userID, in: transaction)
            let lock = try known.switched(request.enabled, isFresh: bearer.isFresh ?? false, now: now)
            guard lock != known, try await store.set(lock, of: bearer.userID, in: transaction) else { return known }
            try await store.container.outbox.publish(
                NotifyPerson(
                    notificationID: .ordered(), personID: bearer.userID,
                    kind: request.enabled ? "recovery_lock_on" : "recovery_lock_off",
                    data: lock.endsAt.map { ["at": $0.description] } ?? [:]), in: transaction)
            return lock
        }
        return RecoveryLock(enabled: lock.isOn, endsAt: lock.endsAt)
    }
}
