import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

struct SuspendAccountHandler: RequestHandler {
    let suspender: AccountSuspender

    func handle(_ request: SuspendAccount, context: RequestContext) async throws -> AccountStanding {
        let staff = try suspender.bearer.actor(of: context)
        return try await suspender.change(
            request.personId, to: .suspended, note: request.note, by: .staff(staff), context)
    }
}

struct RestoreAccountHandler: RequestHandler {
    let suspender: AccountSuspender

    func handle(_ request: RestoreAccount, context: RequestContext) async throws -> AccountStanding {
        let staff = try suspender.bearer.actor(of: context)
        return try await suspender.change(request.personId, to: .active, note: request.note, by: .staff(staff), context)
    }
}

struct ChangeStandingAsOperatorHandler: RequestHandler {
    let suspender: AccountSuspender

    func handle(_ request: ChangeStandingAsOperator, context: RequestContext) async throws -> AccountStanding {
        try await suspender.change(
            request.personId, to: request.isSuspended ? .suspended : .active, note: request.note,
            by: .operator(request.operatorName), context)
    }
}

/// Suspends or restores an account for staff or for an operator.
struct AccountSuspender: Sendable {
    let inbox: Inbox
    let outbox: Outbox
    let audit: AuditTrail
    let bearer: BearerChecker
    let eraser: AccountEraser
    let notes: Sealer

    /// - Throws: ``BusError`` `unauthorized`, `not_found`, `forbidden`.
    @Loop func change(
        _ person: Identifier, to status: SuspensionPolicy.Status, note: String,
        by decider: SuspensionPolicy.Decider, _ context: RequestContext
    ) async throws -> AccountStanding {
        try await inbox.once(context) { transaction in
            Erasure.wait(for: person, in: transaction)
            // This waits for sign-ins that are under way, so that their sessions are ended too.
            try await eraser.lock(person, in: transaction)
            // A member of staff who lost the session or the role during the wait may not decide.
            if case .staff(let actor) = decider {
                guard try await SessionStore.mayAct(actor, in: transaction) else {
                    throw BusError(.unauthorized, "Please sign in.")
                }
            }
            guard let held = try await AccountStore.status(of: person, in: transaction) else {
                throw BusError(.notFound, "There is no such account.")
            }
            try SuspensionPolicy.mayChange(person, whoseRoleIs: held.role, by: decider)
            if held.status != status {
                try await write(status, of: person, note: note, by: decider, in: transaction)
            }
            return .reply(AccountStanding(personId: person, status: status.rawValue))
        }
    }

    @Loop private func write(
        _ status: SuspensionPolicy.Status, of person: Identifier, note: String,
        by decider: SuspensionPolicy.Decider, in transaction: Transaction
    ) async throws {
        let name =
            switch decider {
            case .staff(let actor): try await audit.chain(of: actor.userID, in: transaction).name
            case .operator(let name): "operator \(name)"
            }
        let chain = try await audit.chain(of: person, in: transaction)
        AccountStore.set(status, of: person, in: transaction)
        if status == .suspended {
            SessionStore.revokeAll(of: person, but: nil, .suspended, chain: chain, in: transaction)
        }
        let act = AuditAct(status == .suspended ? "account_suspended" : "account_restored", ["by": name])
        StaffNoteStore.insert(
            notes.seal(Array(note.utf8), associated: person.array), of: person, act: act.name, by: name, in: transaction
        )
        audit.note(act, on: chain, in: transaction)
        try await outbox.publish(
            AccountStatusChanged(personID: person, status: status.rawValue, changedAt: .now()), in: transaction)
    }
}
