import BusProtocol
import JSONText

/// A write on top of an answer that somebody else has changed in the meantime.
struct AnswerConflict: Sendable, Equatable {
    /// Of the item in its request.
    var index: Int
    var question: String
    /// What stands there now; `nil`: nothing.
    var current: Answer?
}

/// Why a request with answers is refused. Nothing is written, except where ``incomplete`` says so.
enum ResponseRefusal: BusErrorConvertible, Equatable {
    case unknownSession
    case invalid([BusError.FieldProblem])
    case mutationReused([BusError.FieldProblem])
    case conflict([AnswerConflict])
    /// The request's answers are saved; the session stays open.
    case incomplete(missing: [MissingAnswer])

    var busError: BusError {
        switch self {
        case .unknownSession: BusError(.notFound, "There is no such session.")
        case .invalid(let problems):
            BusError(.validationFailed, "Some answers cannot be saved as they are.", errors: problems)
        case .mutationReused(let problems):
            BusError(.mutationIDReused, "This id was used for another write.", errors: problems)
        case .conflict(let conflicts): Self.conflictError(conflicts)
        case .incomplete(let missing): Self.incompleteError(missing)
        }
    }

    private static func conflictError(_ conflicts: [AnswerConflict]) -> BusError {
        let current = conflicts.map { conflict -> JSONValue in
            var members: [String: JSONValue] = [
                "question": .string(conflict.question), "revision": .integer(conflict.current?.revision ?? 0),
            ]
            members["state"] = conflict.current.map { .string($0.state.rawValue) }
            members["value"] = conflict.current?.value
            return .object(members)
        }
        return BusError(
            .answerConflict, "This answer was changed somewhere else in the meantime.",
            errors: conflicts.map {
                .init(
                    field: "answers.\($0.index).baseRevision", code: ErrorCode.answerConflict.name,
                    message: "The answer is at revision \($0.current?.revision ?? 0).")
            },
            details: ["current": .array(current)])
    }

    private static func incompleteError(_ missing: [MissingAnswer]) -> BusError {
        BusError(
            .questionnaireIncomplete, "Some questions still want an answer.", executed: .yes,
            errors: missing.map {
                .init(field: $0.question, code: $0.reason.rawValue, message: "This question wants an answer.")
            },
            details: [
                "missing": .array(
                    missing.map { ["question": .string($0.question), "reason": .string($0.reason.rawValue)] })
            ])
    }
}
