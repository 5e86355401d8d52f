import BusProtocol
import JSONText

/// A write to an answer that another device has changed in the meantime.
struct AnswerConflict: Sendable, Equatable {
    /// The index of the item in its request.
    var index: Int
    var question: String
    /// The present answer; `nil` if there is none.
    var current: Answer?
}

/// Why a request with answers is refused. Nothing is written, except for ``incomplete(missing:)``.
enum ResponseRefusal: BusErrorConvertible, Equatable {
    case unknownSession
    case invalid([BusError.FieldProblem])
    /// The rules of the profile refuse an answer to one of its fields.
    case refused(BusError)
    case mutationReused([BusError.FieldProblem])
    case conflict([AnswerConflict])
    /// The request's answers are saved; the session stays open.
    case incomplete(missing: [MissingAnswer])
    /// Like ``incomplete(missing:)``, for a request without answers.
    case incompleteUnchanged(missing: [MissingAnswer])

    var busError: BusError {
        switch self {
        case .unknownSession: BusError(.notFound, "There is no such session.")
        case .invalid(let problems):
            BusError(.validationFailed, "Some answers cannot be saved as they are.", errors: problems)
        case .refused(let error): error
        case .mutationReused(let problems):
            BusError(.mutationIDReused, "This id was used for another write.", errors: problems)
        case .conflict(let conflicts): Self.conflictError(conflicts)
        case .incomplete(let missing): Self.incompleteError(missing, executed: .yes)
        case .incompleteUnchanged(let missing): Self.incompleteError(missing, executed: .no)
        }
    }

    private static func conflictError(_ conflicts: [AnswerConflict]) -> BusError {
        let current = conflicts.map { conflict -> JSONValue in
            var members = ItemOutcome.shown(conflict.current)
            members["question"] = .string(conflict.question)
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

    private static func incompleteError(_ missing: [MissingAnswer], executed: Executed) -> BusError {
        BusError(
            .questionnaireIncomplete, "Some questions still want an answer.", executed: executed,
            errors: missing.map {
                .init(
                    field: AnswerPlace($0.question, of: $0.subject).key, code: $0.reason.rawValue,
                    message: $0.reason.sentence)
            },
            details: ["missing": .array(missing.map(\.json))])
    }
}

extension MissingAnswer {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["question": .string(question), "reason": .string(reason.rawValue)]
        members["subject"] = subject.map { .string($0.description) }
        return .object(members)
    }
}

extension MissingAnswer.Reason {
    fileprivate var sentence: String {
        switch self {
        case .unanswered, .stale: "This question wants an answer."
        case .tooFewSubjects: "Too few were added. Add more, and answer this part for each."
        case .tooManySubjects: "Too many were added. Remove some of them."
        }
    }
}

extension ItemOutcome {
    /// Why the only item of a request was not saved; `nil` if it was saved.
    var refusal: BusError? {
        switch self {
        case .saved: nil
        case .invalid(let problem): ResponseRefusal.invalid([problem]).busError
        case .refused(let error): error
        case .reused: ResponseRefusal.mutationReused([Self.reuse(at: "mutationId")]).busError
        case .conflict(let current):
            BusError(
                .answerConflict, "This answer was changed somewhere else in the meantime.",
                errors: [
                    .init(
                        field: "baseRevision", code: ErrorCode.answerConflict.name,
                        message: "The answer is at revision \(current?.revision ?? 0).")
                ],
                details: ["current": .object(Self.shown(current))])
        }
    }

    /// The present answer, for a client whose write was too late.
    fileprivate static func shown(_ current: Answer?) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["revision": .integer(current?.revision ?? 0)]
        members["state"] = current.map { .string($0.state.rawValue) }
        members["value"] = current?.value
        members["device"] = current?.device.map { .string($0) }
        members["preference"] = current?.preference?.json
        return members
    }
}
