import BusProtocol

/// Decides what to do about a presented refresh token.
enum RefreshPolicy {
    /// How long a client that lost the reply may repeat the call without the secret of its device.
    static let grace = Duration.seconds(10)
    /// How long a browser may take to save what a page keeps. Chromium writes its cookies down every 30 seconds
    /// (`kCommitInterval` in net/extras/sqlite). If it is killed before that, it comes back with the former token.
    static let browserSaving = Duration.seconds(45)
    /// A session ends if it is not renewed for `idle`, and in any case `absolute` after it was opened.
    static let idle = Duration.seconds(30 * 86_400)
    static let absolute = Duration.seconds(180 * 86_400)

    enum Decision: Equatable, Sendable {
        /// Issue a new pair. The token is the session's current one, or an earlier one whose device lost the reply.
        case rotate
        /// Repeat the last reply. The token was replaced within `grace`, so that simultaneous calls get the same pair.
        case repeatAnswer
        /// End the session. An old token was used again, so somebody else has a copy of it.
        case revoke
        /// Refuse it and end nothing. The request was sent before the token was replaced, and a later one overtook it.
        case overtaken
        case invalid
    }

    /// How long ago the gateway sent a request first, at most. It gives a call up before ``grace`` is over.
    ///
    /// - Parameters:
    ///   - attempt: the number of this attempt, from 1.
    ///   - age: how long ago the gateway sent this attempt.
    static func age(ofAttempt attempt: Int, sent age: Duration) -> Duration { attempt > 1 ? age + grace : age }

    /// Whether a session has ended by its age.
    static func isOver(createdAt: Timestamp, lastUsedAt: Timestamp, now: Timestamp) -> Bool {
        now >= lastUsedAt + idle || now >= createdAt + absolute
    }

    /// - Parameters:
    ///   - usedGeneration: the last generation that the client is known to have received, since a token of it was used.
    ///   - isProven: whether the request has the secret of the session's device.
    ///   - isEnded: whether the session was ended or has expired.
    ///   - age: how long ago the gateway sent the request, at most.
    static func decide(
        tokenGeneration: Int64, sessionGeneration: Int64, usedGeneration: Int64, replacedAt: Timestamp?, isProven: Bool,
        isEnded: Bool, age: Duration, now: Timestamp
    ) -> Decision {
        if isEnded { return .invalid }
        if tokenGeneration == sessionGeneration { return .rotate }
        if usedGeneration <= tokenGeneration {
            if let replacedAt, tokenGeneration == sessionGeneration - 1, now < replacedAt + grace {
                return .repeatAnswer
            }
            if isProven { return .rotate }
        }
        if let replacedAt, now - age < replacedAt { return .overtaken }
        return .revoke
    }
}
