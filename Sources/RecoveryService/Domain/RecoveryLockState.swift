import BusProtocol

/// The recovery lock. While it is on, only claimants with proof may ask for the account.
///
/// After it is switched off, it holds for another day, so that any device of the account can switch it on again.
enum RecoveryLockState: Sendable, Equatable {
    case off, on
    /// The lock is on until this time.
    case ending(Timestamp)

    /// How long the lock holds after it was switched off.
    static let delay = Duration.seconds(86_400)

    var isOn: Bool { self != .off }
    var endsAt: Timestamp? { if case .ending(let end) = self { end } else { nil } }

    /// The state after a request to switch the lock on or off. It may be the same state.
    ///
    /// - Parameter isFresh: whether a code opened the session within the last five minutes.
    /// - Throws: ``BusError`` `reauthentication_required` without a fresh session. Keeping a lock that is about to end
    ///   needs no fresh session.
    func switched(_ isWanted: Bool, isFresh: Bool, now: Timestamp) throws(BusError) -> RecoveryLockState {
        switch (self, isWanted) {
        case (.off, false), (.on, true), (.ending, false): return self
        case (.ending, true): return .on
        case (.off, true), (.on, false):
            guard isFresh else {
                throw BusError(.reauthenticationRequired, "Please sign in again to change the recovery lock.")
            }
            return isWanted ? .on : .ending(now + Self.delay)
        }
    }
}
