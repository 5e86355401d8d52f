/// How far a challenge has come.
enum ChallengeState: String, Sendable {
    case open, used
    /// Too many wrong codes.
    case dead
    /// A newer one took its place.
    case superseded
    /// No provider took the message.
    case undelivered
}
