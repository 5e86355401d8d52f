import BusProtocol
import Languages

/// Says whether a session may change its account now. Read it while the account is locked. Do so before changing an
/// identity or the phone, exporting data, or deleting the account.
struct ChangePermission: Sendable, Equatable {
    /// How long a sign-in counts as fresh.
    static let freshness = Duration.seconds(300)
    /// How long an account stays frozen after a recovery was completed, so that a former owner can object.
    static let rest = Duration.seconds(48 * 3600)

    /// Whether the account's strongest way in opened the session within ``freshness``. The order is a code by SMS, then
    /// a linked identity, then a code by email.
    let isFresh: Bool
    /// The time until the freeze of the account ends by itself; `nil` if it is not frozen.
    let frozenFor: Duration?

    /// - Parameter act: completes "Please sign in again to …".
    /// - Throws: ``BusError`` `reauthentication_required`.
    func mustBeFresh(to act: Sentence) throws(BusError) {
        guard !isFresh else { return }
        let sentence: Sentence = "Please sign in again to \(act)."
        throw BusError(.reauthenticationRequired, sentence.english)
    }

    /// - Throws: ``BusError`` `account_frozen`, with the time that is left of the freeze.
    func mustNotBeFrozen() throws(BusError) {
        guard let frozenFor else { return }
        throw BusError(
            .accountFrozen, "This account is protected because of a recovery request. Please try again later.",
            retryAfter: frozenFor)
    }
}
