import BusProtocol

/// Whether only proven claimants may ask for an account. Who switches that off has to wait, so that any device of the account can
/// take it back.
enum RecoveryLockState: Sendable, Equatable {
    case off, on
    /// On until then.
    case ending(Timestamp)

    /// How long the lock holds after it was switched off.
    static let delay = Duration.seconds(86_400)

    var isOn: Bool { self != .off }
    var endsAt: Timestamp? { if case .ending(let end) = self { end } else { nil } }

    /// The state after somebody asked for the lock to be on or off; the same one where that changes nothing.
    ///
    /// - Parameter isFresh: a code opened the session a moment ago.
    /// - Throws: ``BusError`` `reauthentication_required`. Keeping a lock that is about to end takes any session.
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
