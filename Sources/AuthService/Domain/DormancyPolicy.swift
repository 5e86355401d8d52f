import BusProtocol

/// Decides about a number whose account was unused for so long that the number may have a new holder.
enum DormancyPolicy {
    enum Decision: Sendable, Equatable {
        case signIn
        /// Ask the person whether they own the account or are the number's new holder.
        case ask
        /// Take the number from the account. Its new holder gets an account of their own.
        case detach
    }

    /// - Parameters:
    ///   - seenAt: when the account was last used; `nil` if the number has no account.
    ///   - isKnownDevice: whether the device proved that it signed in to the account before.
    ///   - wantsNewAccount: whether the person said that the account is not theirs.
    ///   - limit: how long an account may be unused; `nil` means without limit.
    static func decide(
        seenAt: Timestamp?, now: Timestamp, isKnownDevice: Bool, wantsNewAccount: Bool, limit: Duration?
    ) -> Decision {
        guard let seenAt, let limit, !isKnownDevice, seenAt + limit < now else { return .signIn }
        return wantsNewAccount ? .detach : .ask
    }
}
