import BusProtocol

/// What a session may do to its account at this moment, read while the account is locked. Whatever moves an account asks it:
/// identities, the phone, the export, the deletion.
struct SessionStanding: Sendable, Equatable {
    /// A sign-in counts as one of this moment for so long.
    static let freshness = Duration.seconds(300)
    /// Nothing is moved for so long after a recovery was completed: whoever lost the account has time to say so.
    static let rest = Duration.seconds(48 * 3600)

    /// A code opened the session within ``freshness``; where the account has no number, a linked identity did.
    let isFresh: Bool
    /// Until the account's freeze ends by itself; `nil` where it has none.
    let frozenFor: Duration?

    /// - Parameter act: completes "Please sign in again to …".
    /// - Throws: ``BusError`` `reauthentication_required`.
    func mustBeFresh(to act: String) throws(BusError) {
        guard isFresh else { throw BusError(.reauthenticationRequired, "Please sign in again to \(act).") }
    }

    /// - Throws: ``BusError`` `account_frozen`, with the time that is left.
    func mustNotBeFrozen() throws(BusError) {
        guard let frozenFor else { return }
        throw BusError(
            .accountFrozen, "This account is protected because of a recovery request. Please try again later.",
            retryAfter: frozenFor)
    }
}
