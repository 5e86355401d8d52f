import BusProtocol

/// What a judge says of a photo of a profile.
enum PhotoOpinion: Sendable, Equatable {
    case decided(Moderation)
    /// Reviewers are to decide.
    case review
    /// There is none yet. The judge is asked again.
    case later

    /// How long a judge may take, before reviewers decide.
    static let patience = Duration.seconds(86_400)

    /// Reads a judge's word; `nil` if it is none of those that it may say.
    init?(verdict: String) {
        switch verdict {
        case "approved": self = .decided(.approved)
        case "rejected": self = .decided(.refused)
        case "review": self = .review
        default: return nil
        }
    }

    /// What follows from it. Whoever has thought about a photo for a day has no opinion of it.
    ///
    /// - Parameters:
    ///   - asked: when the judge was asked first.
    func after(_ asked: Timestamp, at now: Timestamp) -> PhotoOpinion {
        self == .later && asked + Self.patience <= now ? .review : self
    }
}
