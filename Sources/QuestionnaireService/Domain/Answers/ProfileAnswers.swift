import BusProtocol
import JSONText

extension AnswerSheet {
    /// The values that the answers give to fields of the profile, by field. A field's value is that of the first of its
    /// questions that is shown and was answered or declined. It is `null` if such an answer was only withdrawn.
    var profileAnswers: [String: JSONValue] { saidInProfile.mapValues(\.value) }

    /// The same with the keys of the places.
    private var saidInProfile: [String: (key: String, value: JSONValue)] {
        var said: [String: (key: String, value: JSONValue)] = [:]
        guard definition.hasExtracts else { return said }
        for item in items where !item.isHidden && !item.isStale {
            guard let field = item.profileField, said[field]?.value ?? .null == .null, let answer = item.answer,
                let value = Extraction.value(of: answer, item.kind)
            else { continue }
            said[field] = (item.key, value)
        }
        return said
    }

    /// Compares the answers' values for fields of the profile with those before the change. If an answer counts again
    /// but profile refuses it now, it becomes stale, and the person is asked again.
    func judged(since before: AnswerSheet, _ verdicts: ProfileVerdicts) -> (AnswerSheet, ProfileAnswerChange) {
        var (sheet, change) = (self, ProfileAnswerChange())
        let former = before.profileAnswers
        while true {
            let said = sheet.saidInProfile.filter { former[$0.key] != $0.value.value }.sorted { $0.key < $1.key }
            var again: [String] = []
            (change.fields, change.unjudged) = ([], [])
            for (field, said) in said {
                let extract = ProfileExtract(field: field, value: said.value)
                switch verdicts[extract] {
                case .taken?: break
                case nil: change.unjudged.append(extract)
                // A field that cannot be withdrawn keeps its value.
                default:
                    if said.value != .null { again.append(said.key) }
                    continue
                }
                change.fields.append(field)
            }
            guard again.isEmpty else {
                for key in again { sheet.makeStale(key) }
                change.refused += again
                continue
            }
            return (sheet, change)
        }
    }
}

/// The new values that a change of a session gives to fields of the profile.
struct ProfileAnswerChange: Sendable, Equatable {
    /// The fields for which the answers have another value than before, in order.
    var fields: [String] = []
    /// Answers that profile has not judged yet. Nothing may be written before it has judged them.
    var unjudged: [ProfileExtract] = []
    /// The keys of the answers that became stale, since profile refuses them.
    var refused: [String] = []
}

/// Profile's verdicts on answers, before they are saved.
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
