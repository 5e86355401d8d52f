import BusProtocol

/// What a refresh token that is presented means.
enum RefreshPolicy {
    /// A client that lost the answer may repeat the call for so long without a proof of its device.
    static let grace = Duration.seconds(10)
    /// A session that is not renewed for so long is over, and any session after so long in all.
    static let idle = Duration.seconds(30 * 86_400)
    static let absolute = Duration.seconds(180 * 86_400)

    enum Decision: Equatable, Sendable {
        /// The current token of its session, or an earlier one whose device lost the answer: the session gets a new pair.
        case rotate
        /// The one before, repeated in time: the same answer again, so that calls at the same time get one pair.
        case repeatAnswer
        /// An old token used again: somebody has a copy, and the whole session ends.
        case revoke
        case invalid
    }

    /// Whether a session is over by its age.
    static func isOver(createdAt: Timestamp, lastUsedAt: Timestamp, now: Timestamp) -> Bool {
        now >= lastUsedAt + idle || now >= createdAt + absolute
    }

    /// - Parameters:
    ///   - usedGeneration: the last generation of which a token was seen, other than a refresh token that is presented again.
    ///   - isProven: the request has the secret of the session's device.
    ///   - isEnded: the session was ended, or is over.
    static func decide(
        tokenGeneration: Int64, sessionGeneration: Int64, usedGeneration: Int64, replacedAt: Timestamp?, isProven: Bool,
        isEnded: Bool, now: Timestamp
    ) -> Decision {
        if isEnded { return .invalid }
        if tokenGeneration == sessionGeneration { return .rotate }
        guard usedGeneration <= tokenGeneration else { return .revoke }
        if let replacedAt, tokenGeneration == sessionGeneration - 1, now < replacedAt + grace { return .repeatAnswer }
        return isProven ? .rotate : .revoke
    }
}
