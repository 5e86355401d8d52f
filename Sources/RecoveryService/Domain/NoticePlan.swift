import BusProtocol

/// Decides when an owner is notified of a held case, and which cases share a notice.
enum NoticePlan {
    /// The stages of a hold. The owner is notified at each.
    enum Stage: Int64, Sendable, CaseIterable {
        case requested = 1
        case middle
        case lastHour

        var kind: NoticeKind {
            switch self {
            case .requested: .recoveryRequested
            case .middle: .recoveryReminder
            case .lastHour: .recoveryLastHour
            }
        }
    }

    /// The first claims against an account within a day, each with a notice of its own. Further claims share notices.
    static let mostAlone: Int64 = 3
    /// How long claims are gathered for a shared notice. A notice also includes cases that are due within this time.
    static let gathering = Duration.seconds(3600)
    /// The most cases in one notice.
    static let mostTogether = 16

    /// When the notice of a stage is due.
    ///
    /// - Returns: `nil` if the hold is too short for the stage.
    static func due(_ stage: Stage, from start: Timestamp, until end: Timestamp) -> Timestamp? {
        switch stage {
        case .requested: start
        case .middle: start + (end - start) / 2
        case .lastHour: end - start > .seconds(7200) ? end - .seconds(3600) : nil
        }
    }
}
