import BusProtocol
import JSONText

/// What a result says of fields of the profile. A default that counted is none of it: the person did not say so.
enum Extraction {
    /// - Parameter answers: of a snapshot, by place.
    /// - Returns: each field once, of the first question that was answered.
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

    /// As a profile writes it: without the unit, which is always the inch.
    private static func plain(_ value: JSONValue, _ kind: QuestionKind) -> JSONValue {
        kind == .height ? value["value"] ?? .null : value
    }
}
