import BusProtocol

/// Where a command that goes through all sessions has come to: they stand in the order of their persons.
struct SessionCursor: Sendable, Equatable {
    let person: Identifier
    let session: Identifier

    init(person: Identifier, session: Identifier) { (self.person, self.session) = (person, session) }

    /// - Parameter text: a ``text``; `nil` of any other.
    init?(_ text: String) {
        let ids = text.split(separator: " ").compactMap { Identifier(String($0)) }
        guard ids.count == 2 else { return nil }
        self.init(person: ids[0], session: ids[1])
    }

    /// As the operator's program gives it back.
    var text: String { "\(person) \(session)" }
}
