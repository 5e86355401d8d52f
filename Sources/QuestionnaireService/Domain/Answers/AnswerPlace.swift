import BusProtocol

/// Where an answer stands: a question and, in a section that repeats, whom it is asked about.
struct AnswerPlace: Sendable, Hashable {
    let question: String
    let subject: Identifier?

    init(_ question: String, of subject: Identifier? = nil) { (self.question, self.subject) = (question, subject) }

    /// `nil` for what no ``key`` is.
    init?(key: String) {
        let parts = key.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            self.init(key)
            return
        }
        guard let subject = Identifier(String(parts[1])) else { return nil }
        self.init(String(parts[0]), of: subject)
    }

    /// `question`, or `question/subject`: how it is kept and told. No question's key has a slash in it.
    var key: String { subject.map { "\(question)/\($0)" } ?? question }
}

/// Somebody or something that a section is asked about again, a child, say.
struct Subject: Sendable, Equatable {
    let id: Identifier
    /// What the section's `repeat` calls them.
    let kind: String
    /// Of all that were ever added, from 1.
    let position: Int64
    /// As the person calls it; `nil` where a question asks for that, and where nothing was said.
    var label: String?
}
