import BusProtocol
import JSONText

/// Extracts values for fields of the profile from answers. Defaults are left out, since the person did not choose them.
enum Extraction {
    /// - Parameter answers: of a snapshot, by place.
    /// - Returns: one value for each field, from the first of its questions that was answered.
    static func extracts(of definition: Definition, from answers: JSONValue) -> [ProfileExtract] {
        var (found, taken): ([ProfileExtract], Set<String>) = ([], [])
        for question in definition.questions {
            guard let field = question.profileField, let answer = answers[question.key],
                answer["state"]?.stringValue == AnswerState.answered.rawValue, let value = answer["value"],
                taken.insert(field).inserted
            else { continue }
            found.append(ProfileExtract(field: field, value: plain(value, question.kind)))
        }
        return found
    }

    /// The value that an answer gives to its field, in the form of `PATCH /users/me`. It is `prefer_not_to_say` if the
    /// person declined, and `null` if they withdrew the answer. It is `nil` if the answer gives no value.
    static func value(of answer: Answer, _ kind: QuestionKind) -> JSONValue? {
        switch answer.state {
        case .answered: answer.value.map { plain($0, kind) }
        case .declined: .string(declined)
        case .unanswered: .null
        default: nil
        }
    }

    private static let declined = "prefer_not_to_say"

    /// The value as profile stores it. A height has no unit there, since it is always in inches.
    private static func plain(_ value: JSONValue, _ kind: QuestionKind) -> JSONValue {
        kind == .height ? value["value"] ?? .null : value
    }
}
