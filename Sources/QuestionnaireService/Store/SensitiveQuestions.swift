import EventLoop

/// The questions whose answers are sealed, as far as this replica knows. These are the questions that any published
/// version of their questionnaire marks as sensitive.
///
/// Marks are only added, never removed. A transaction learns them when it locks its session. A statement without that
/// lock writes an answer only if the replica knew the mark of its question. No version with a new mark is published
/// while answers are being written (`m0017`).
@Loop final class SensitiveQuestions {
    private var known: [String: Set<String>] = [:]

    nonisolated init() {}

    /// - Parameter questions: those that the versions published so far mark.
    func learn(_ questions: [String], of questionnaire: String) {
        known[questionnaire, default: []].formUnion(questions)
    }

    /// - Parameter place: the key of an ``AnswerPlace``.
    func contains(_ place: String, of definition: Definition) -> Bool {
        let question = place.split(separator: "/", maxSplits: 1).first.map(String.init) ?? place
        return definition.sensitive.contains(question) || known[definition.key]?.contains(question) == true
    }
}
