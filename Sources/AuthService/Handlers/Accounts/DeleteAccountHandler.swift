import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Deletes everything that auth has about an account. The same transaction publishes the event on which the other
/// services erase their data.
struct DeleteAccountHandler: RequestHandler {
    let database: Database
    let outbox: Outbox
    let audit: AuditTrail
    let bearer: BearerChecker
    let apple: AppleTokens
    let eraser: AccountEraser
    /// The sections of the tables that `eraser` erases.
    let sections: [ExportSection]

    func handle(_ request: DeleteAccount, context: RequestContext) async throws -> AccountDeletion {
        let actor = try bearer.actor(of: context)
        try await database.transaction { transaction in
            let person = actor.userID
            Erasure.wait(for: person, in: transaction)
            guard try await !Erasure.isErased(person, in: transaction) else { return }
            try await eraser.lock(person, in: transaction)
            let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
            try permission.mustNotBeFrozen()
            try permission.mustBeFresh(to: Sentence("delete your account"))
            try await delete(person, in: transaction)
        }
        return AccountDeletion(status: "deleting")
    }

    @Loop private func delete(_ person: Identifier, in transaction: Transaction) async throws {
        let chain = try await audit.chain(of: person, in: transaction)
        SessionStore.revokeAll(of: person, but: nil, .deleted, chain: chain, in: transaction)
        audit.note(AuditAct("account_deleted"), on: chain, in: transaction)
        Erasure.withdraw(person, in: transaction)
        try await outbox.publish(AccountDeleted(personID: person, deletedAt: .now()), in: transaction)
        try await apple.revokeAll(of: person, in: transaction)
        try await eraser.erase(person, in: transaction)
        try await PersonTable.erase(person, besides: sections, in: transaction)
        Erasure.erase(person, in: transaction)
    }
}
