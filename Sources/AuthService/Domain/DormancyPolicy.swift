import BusProtocol

/// What becomes of a number whose account slept for so long that the number may be somebody else's by now.
enum DormancyPolicy {
    enum Decision: Sendable, Equatable {
        case signIn
        /// The person says which of the two they are: the account's, or the number's new holder.
        case ask
        /// The number goes to its new holder, who gets an account of their own.
        case detach
    }

    /// - Parameters:
    ///   - seenAt: when the account was last used; `nil` where the number has none.
    ///   - isKnownDevice: the device proves that it signed in to that account before.
    ///   - wantsNewAccount: the person says that the account is not theirs.
    ///   - limit: the sleep that an account may have; `nil`: as long as it likes.
    static func decide(
        seenAt: Timestamp?, now: Timestamp, isKnownDevice: Bool, wantsNewAccount: Bool, limit: Duration?
    ) -> Decision {
        guard let seenAt, let limit, !isKnownDevice, seenAt + limit < now else { return .signIn }
        return wantsNewAccount ? .detach : .ask
    }
}
