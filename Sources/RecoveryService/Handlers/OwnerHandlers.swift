import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Shows an owner the cases against the account with their true status.
struct ListOwnCasesHandler: RequestHandler {
    let database: Database

    func handle(_ request: ListOwnCases, context: RequestContext) async throws -> OwnRecoveryCases {
        let person = try context.person().userID
        let lock = try await CaseStore.lock(of: person, in: database)
        return OwnRecoveryCases(
            cases: try await CaseStore.cases(against: person, in: database), lockEnabled: lock.isOn,
            lockEndsAt: lock.endsAt)
    }
}

/// Switches the recovery lock. The person is notified, so that a thief with one device cannot do it unnoticed.
struct SetRecoveryLockHandler: RequestHandler {
    let inbox: Inbox
    let outbox: Outbox
    let bearers: BearerReader

    func handle(_ request: SetRecoveryLock, context: RequestContext) async throws -> RecoveryLock {
        let bearer = try await bearers.bearer(of: context)
        return try await inbox.oncePerMessage(context) { transaction in
            let (known, now) = try await CaseStore.lock(of: bearer.userID, in: transaction)
            let lock = try known.switched(request.enabled, isFresh: bearer.isFresh ?? false, now: now)
            guard lock != known, try await CaseStore.set(lock, of: bearer.userID, in: transaction) else {
                return RecoveryLock(known)
            }
            try await outbox.publish(
                NotifyPerson(
                    notificationID: .ordered(), personID: bearer.userID,
                    kind: (request.enabled ? NoticeKind.recoveryLockOn : .recoveryLockOff).rawValue,
                    data: lock.endsAt.map { ["at": $0.description] } ?? [:]), in: transaction)
            return RecoveryLock(lock)
        }
    }
}

extension RecoveryLock {
    fileprivate init(_ lock: RecoveryLockState) { self.init(enabled: lock.isOn, endsAt: lock.endsAt) }
}
