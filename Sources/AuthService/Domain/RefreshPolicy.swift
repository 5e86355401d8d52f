import BusProtocol

/// What a refresh token that is presented means.
enum RefreshPolicy {
    /// A client that lost the answer may repeat the call for so long.
    static let grace = Duration.seconds(10)

    enum Decision: Equatable, Sendable {
        /// The current token of its session: it is replaced.
        case rotate
        /// The one before, repeated in time and before the new refresh token was used: the same answer again.
        case repeatAnswer
        /// An old token used again: somebody has a copy, and the whole session ends.
        case revoke
        case invalid
    }

    static func decide(
        tokenGeneration: Int64, sessionGeneration: Int64, replacedAt: Timestamp?, isRevoked: Bool, now: Timestamp
    ) -> Decision {
        if isRevoked { return .invalid }
        if tokenGeneration == sessionGeneration { return .rotate }
        if let replacedAt, tokenGeneration == sessionGeneration - 1, now < replacedAt + grace { return .repeatAnswer }
        return .revoke
    }
}
