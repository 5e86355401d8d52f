import BusProtocol

/// A judge's opinion of a photo of a profile.
enum PhotoOpinion: Sendable, Equatable {
    case decided(Moderation)
    /// Reviewers are to decide.
    case review
    /// There is no opinion yet. The service asks the judge again.
    case later

    /// How long a judge may take, before reviewers decide.
    static let patience = Duration.seconds(86_400)

    /// Reads a judge's verdict; `nil` if it is not one of those that are allowed.
    init?(verdict: String) {
        switch verdict {
        case "approved": self = .decided(.approved)
        case "rejected": self = .decided(.refused)
        case "review": self = .review
        default: return nil
        }
    }

    /// The opinion that counts at a time. After a day without a verdict, the judge counts as undecided, and reviewers
    /// decide.
    ///
    /// - Parameters:
    ///   - asked: when the judge was asked first.
    func after(_ asked: Timestamp, at now: Timestamp) -> PhotoOpinion {
        self == .later && asked + Self.patience <= now ? .review : self
    }
}
