import BusProtocol

/// Who decides upon a case.
struct Reviewer: Sendable {
    /// A pseudonym, or `operator` and a name.
    let name: String
    /// `nil` for an operator.
    let person: Identifier?
    /// The public key of an operator's connection, where operators are told apart by it.
    let key: String?
}
