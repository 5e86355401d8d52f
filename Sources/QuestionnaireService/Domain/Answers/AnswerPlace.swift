import BusProtocol

/// The place of an answer: a question and, in a repeated section, the subject that it is about.
struct AnswerPlace: Sendable, Hashable {
    let question: String
    let subject: Identifier?

    init(_ question: String, of subject: Identifier? = nil) { (self.question, self.subject) = (question, subject) }

    /// `nil` if the text is not a ``key``.
    init?(key: String) {
        let parts = key.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            self.init(key)
            return
        }
        guard let subject = Identifier(String(parts[1])) else { return nil }
        self.init(String(parts[0]), of: subject)
    }

    /// `question`, or `question/subject`: the form in tables and messages. No question's key has a slash.
    var key: String { subject.map { "\(question)/\($0)" } ?? question }
}

/// A person or thing for which a section is repeated, such as a child.
struct Subject: Sendable, Equatable {
    let id: Identifier
    /// The name of the subjects in the section's `repeat`.
    let kind: String
    /// The number among all subjects that were ever added, from 1.
    let position: Int64
    /// The person's name for it; `nil` if a question asks for the name, or if none was given.
    var label: String?
}
