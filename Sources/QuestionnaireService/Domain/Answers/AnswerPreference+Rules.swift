import BusProtocol
import JSONText

extension AnswerPreference {
    /// `nil` if the JSON is not a preference.
    init?(_ json: JSONValue) {
        guard let acceptable = json["acceptable"]?.arrayValue, let importance = json["importance"]?.integerValue else {
            return nil
        }
        self.init(acceptable: acceptable.compactMap(\.stringValue), importance: importance)
    }

    var json: JSONValue {
        ["acceptable": .array(acceptable.map { .string($0) }), "importance": .integer(importance)]
    }
}

extension Question {
    /// The preference with its options in the order of the definition.
    ///
    /// - Throws: ``AnswerProblem`` if the question asks for no preference, or does not allow this one.
    func canonical(_ preference: AnswerPreference) throws(AnswerProblem) -> AnswerPreference {
        guard !importances.isEmpty else {
            throw AnswerProblem("not_allowed", "This question does not ask what you want of others.")
        }
        guard importances.contains(preference.importance) else {
            throw AnswerProblem(
                "not_allowed", "The importance must be one of \(importances.map(String.init).joined(separator: ", ")).")
        }
        let keys = options.map(\.key)
        guard !preference.acceptable.isEmpty, Set(preference.acceptable).isSubset(of: keys) else {
            throw AnswerProblem("unknown_option", "There is no such option.")
        }
        return AnswerPreference(
            acceptable: keys.filter(preference.acceptable.contains), importance: preference.importance)
    }

    /// The part of a preference that is valid in this version of the question; `nil` if there is none.
    func carried(_ preference: AnswerPreference) -> AnswerPreference? {
        let known = Set(options.map(\.key))
        let left = AnswerPreference(
            acceptable: preference.acceptable.filter(known.contains), importance: preference.importance)
        return try? canonical(left)
    }
}
