import BusProtocol
import Database
import EventLoop

/// Says whether an account may be changed now.
@Loop enum AccountChangeGuard {
    /// Locks the account until the transaction ends, and says what the session may do. Meanwhile, a recovery that
    /// freezes or moves the account waits.
    ///
    /// - Throws: ``BusError`` `unauthorized` if the session ended or is not the person's, or if the account is not
    ///   active.
    static func permission(of actor: Actor, in transaction: Transaction) async throws -> ChangePermission {
        guard let permission = try await ChangePermissionStore.permission(of: actor, in: transaction) else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return permission
    }

    /// Refuses a change that no session makes, if the account is frozen. The caller has locked the account.
    ///
    /// - Parameter moment: recoveries that began after it count only if they moved the account; `nil` if all count.
    /// - Throws: ``BusError`` `account_frozen`.
    static func mustNotBeFrozen(
        _ person: Identifier, before moment: Timestamp? = nil, in transaction: Transaction
    ) async throws {
        let freeze = try await ChangePermissionStore.freeze(of: person, before: moment, in: transaction)
        try ChangePermission(isFresh: false, frozenFor: freeze).mustNotBeFrozen()
    }
}
