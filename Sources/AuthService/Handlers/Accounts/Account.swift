import BusProtocol
import Database
import EventLoop

/// The facts about an account that a sign-in needs.
struct Account: Sendable {
    let id: Identifier
    let role: Role
    let isNew: Bool
    /// The account's audit chain.
    let chain: AuditChain
}

extension Account {
    /// The account of a person who proved to own it; `nil` if there is none.
    ///
    /// - Throws: ``BusError`` `forbidden` if the account is not active.
    @Loop init?(_ locked: StoredAccount?, audit: AuditTrail, in transaction: Transaction) async throws {
        guard let locked else { return nil }
        guard locked.isActive else {
            throw BusError(.forbidden, "This account is not available. Please contact support.")
        }
        let chain =
            if let sealed = locked.keySealed {
                try audit.chain(of: locked.id, sealedKey: sealed)
            } else {
                try await audit.ensure(locked.id, in: transaction)
            }
        self.init(id: locked.id, role: locked.role, isNew: false, chain: chain)
    }

    /// A new account without a way in, which the caller must add.
    @Loop static func create(audit: AuditTrail, in transaction: Transaction) -> Account {
        let id = Identifier.random()
        AccountStore.insert(id, in: transaction)
        let chain = audit.begin(id, in: transaction)
        audit.note(AuditAct("account_created"), on: chain, in: transaction)
        return Account(id: id, role: .user, isNew: true, chain: chain)
    }
}
