import Database
import EventLoop

/// The questions whose answers are sealed: those that any published version of their questionnaire marks as sensitive.
@Loop final class SensitiveQuestions {
    private var known: [String: Set<String>] = [:]

    nonisolated init() {}

    /// Reads what other versions mark. A version's own marks count before that.
    func refresh(from database: Database) async throws {
        var found: [String: Set<String>] = [:]
        for row in try await database.read("SELECT questionnaire, question FROM sensitive_questions", []) {
            found[try row.text("questionnaire"), default: []].insert(try row.text("question"))
        }
        known = found
    }

    /// - Parameter place: the key of an ``AnswerPlace``.
    func contains(_ place: String, of definition: Definition) -> Bool {
        let question = place.split(separator: "/", maxSplits: 1).first.map(String.init) ?? place
        return definition.sensitive.contains(question) || known[definition.key]?.contains(question) == true
    }
}
