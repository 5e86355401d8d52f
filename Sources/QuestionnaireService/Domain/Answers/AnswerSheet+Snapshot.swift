import JSONText

extension AnswerSheet {
    /// The answers in a snapshot, by the keys of their places. Hidden, stale and unanswered questions have
    /// none. A default that counts is in it.
    ///
    /// - Parameter stored: the stored form of a value at a place.
    func snapshot(_ stored: (_ value: JSONValue, _ place: String) -> JSONValue) -> [String: JSONValue] {
        var answers: [String: JSONValue] = [:]
        for item in visible where !item.isStale {
            if item.isLeftToDefault {
                answers[item.key] = ["state": "default", "value": stored(item.suggestion ?? .null, item.key)]
            } else if let answer = item.answer, answer.state != .unanswered {
                answers[item.key] = answer.json { stored($0, item.key) }
            }
        }
        return answers
    }
}

extension Answer {
    /// The form in a snapshot.
    fileprivate func json(_ stored: (JSONValue) -> JSONValue) -> JSONValue {
        var members: [String: JSONValue] = ["state": .string(state.rawValue), "revision": .integer(revision)]
        members["value"] = value.map(stored)
        members["preference"] = preference?.json
        return .object(members)
    }
}
