import BusProtocol

/// A person who decides on a case.
struct CaseReviewer: Sendable {
    /// A pseudonym, or `operator` and a name.
    let name: String
    /// `nil` for an operator.
    let person: Identifier?
    /// The public key of an operator's connection, if operators are distinguished by it.
    let key: String?
}
