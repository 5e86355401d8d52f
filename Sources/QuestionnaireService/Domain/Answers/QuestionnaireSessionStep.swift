import BusProtocol

/// The change of a session's status by a request, after its answers are saved.
enum QuestionnaireSessionStep: Equatable {
    case stay
    /// The request completes the session, but answers are missing.
    case refuse([MissingAnswer])
    /// Take a snapshot and set this status.
    case conclude(SessionStatus)

    /// - Parameter wasCompleted: whether the session was completed before it was opened again.
    init(
        status: SessionStatus, wasCompleted: Bool, changesAnswers: Bool, completes: Bool,
        missing: @autoclosure () -> [MissingAnswer]
    ) {
        switch status {
        case .inProgress where completes:
            let missing = missing()
            self = missing.isEmpty ? .conclude(wasCompleted ? .amended : .completed) : .refuse(missing)
        case .completed where changesAnswers, .amended where changesAnswers: self = .conclude(.amended)
        default: self = .stay
        }
    }

    func status(after before: SessionStatus) -> SessionStatus {
        if case .conclude(let status) = self { status } else { before }
    }
}
