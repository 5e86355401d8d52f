import BusProtocol

/// What a refresh token that is presented means.
enum RefreshPolicy {
    /// A client that lost the answer may repeat the call for so long.
    static let grace = Duration.seconds(10)
    /// A session that is not renewed for so long is over, and any session after so long in all.
    static let idle = Duration.seconds(30 * 86_400)
    static let absolute = Duration.seconds(180 * 86_400)

    enum Decision: Equatable, Sendable {
        /// The current token of its session: it is replaced.
        case rotate
        /// The one before, repeated in time, before a token of the new pair was used: the same answer again.
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
    ///   - usedGeneration: the last generation of which the access token was seen.
    ///   - isKeyed: it was replaced by a request with a key of the client, who repeats it with the same key.
    ///   - isEnded: the session was ended, or is over.
    static func decide(
        tokenGeneration: Int64, sessionGeneration: Int64, usedGeneration: Int64, replacedAt: Timestamp?, isKeyed: Bool,
        isEnded: Bool, now: Timestamp
    ) -> Decision {
        if isEnded { return .invalid }
        if tokenGeneration == sessionGeneration { return .rotate }
        guard let replacedAt, tokenGeneration == sessionGeneration - 1, usedGeneration < sessionGeneration,
            now < replacedAt + grace
        else { return .revoke }
        return isKeyed ? .invalid : .repeatAnswer
    }
}
