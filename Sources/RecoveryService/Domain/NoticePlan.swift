import BusProtocol

/// When an owner hears of a case that is held, and which cases one notice speaks of.
enum NoticePlan {
    /// What the owner was told of a case by then.
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

    /// So many claims of an account within a day are told each by itself; more are gathered.
    static let mostAlone: Int64 = 3
    /// As long as claims are gathered, and as far as one notice looks ahead.
    static let gathering = Duration.seconds(3600)
    /// A notice speaks of so many cases at the most.
    static let mostTogether = 16

    /// - Returns: `nil` for a hold that is too short for it.
    static func due(_ stage: Stage, from start: Timestamp, until end: Timestamp) -> Timestamp? {
        switch stage {
        case .requested: start
        case .middle: start + (end - start) / 2
        case .lastHour: end - start > .seconds(7200) ? end - .seconds(3600) : nil
        }
    }
}
