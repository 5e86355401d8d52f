import BusProtocol
import JSONText

extension AnswerSheet {
    /// What the answers say about fields of the profile, by field: the value of the first of its questions that is shown
    /// and was answered or declined. It is `null` if such an answer was only withdrawn.
    var profileAnswers: [String: JSONValue] {
        var said: [String: JSONValue] = [:]
        guard definition.hasExtracts else { return said }
        for item in items where !item.isHidden && !item.isStale {
            guard let field = item.profileField, said[field] ?? .null == .null, let answer = item.answer,
                let value = Extraction.value(of: answer, item.kind)
            else { continue }
            said[field] = value
        }
        return said
    }
}

/// What profile said about answers, before they are saved.
struct ProfileVerdicts: Sendable {
    /// Thrown if answers must be judged first.
    struct Wanted: Error, Equatable {
        let answers: [ProfileExtract]
    }

    enum Verdict: Sendable, Equatable {
        case taken
        /// The value does not fit the field.
        case invalid(code: String, message: String)
        /// The rules of the profile refuse it, such as the lock of the date of birth.
        case refused(BusError)
    }

    private struct Key: Hashable {
        let field: String
        let value: JSONValue
    }

    private var verdicts: [Key: Verdict] = [:]
    /// When the last answers were judged, by the clock of profile's database; `nil` if none were.
    private(set) var judgedAt: Timestamp?

    subscript(answer: ProfileExtract) -> Verdict? { verdicts[Key(field: answer.field, value: answer.value)] }

    /// Adds the verdicts on answers that were asked for.
    mutating func add(_ judged: AnswersJudged, on answers: [ProfileExtract]) {
        for answer in answers { verdicts[Key(field: answer.field, value: answer.value)] = .taken }
        for refusal in judged.refused where answers.indices.contains(Int(refusal.index)) {
            let answer = answers[Int(refusal.index)]
            verdicts[Key(field: answer.field, value: answer.value)] = Verdict(refusal)
        }
        judgedAt = judged.judgedAt
    }
}

extension ProfileVerdicts.Verdict {
    fileprivate init(_ refusal: RefusedAnswer) {
        switch refusal.code {
        case ErrorCode.dateOfBirthLocked.name: self = .refused(BusError(.dateOfBirthLocked, refusal.detail))
        case ErrorCode.underage.name:
            let day = refusal.eligibleOn.map { ["eligibleOn": JSONValue.string($0.description)] }
            self = .refused(BusError(.underage, refusal.detail, details: day))
        default: self = .invalid(code: refusal.reason ?? "not_allowed", message: refusal.detail)
        }
    }
}
