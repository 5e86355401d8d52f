import BusProtocol

/// What a request does to the state of its session, once its answers are saved.
enum SessionStep: Equatable {
    case stay
    /// It wants to be completed, and something is missing.
    case refuse([MissingAnswer])
    /// A snapshot is taken, and the session is from now on this.
    case conclude(SessionStatus)

    /// - Parameter wasCompleted: before it was opened again.
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
