import BusProtocol

/// The position of a command that goes through all sessions, in the order of persons and sessions.
struct QuestionnaireSessionCursor: Sendable, Equatable {
    let person: Identifier
    let session: Identifier

    init(person: Identifier, session: Identifier) { (self.person, self.session) = (person, session) }

    /// - Parameter text: a value of ``text``. Any other text gives `nil`.
    init?(_ text: String) {
        let ids = text.split(separator: " ").compactMap { Identifier(String($0)) }
        guard ids.count == 2 else { return nil }
        self.init(person: ids[0], session: ids[1])
    }

    /// The form in which the operator's program returns it.
    var text: String { "\(person) \(session)" }
}
