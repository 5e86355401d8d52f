import BusProtocol

/// Decides who may suspend or restore which account.
enum SuspensionPolicy {
    enum Status: String, Sendable { case active, suspended }

    enum Decider: Sendable {
        case staff(Actor)
        /// An operator, by name.
        case `operator`(String)
    }

    /// - Throws: ``BusError`` `forbidden`.
    static func mustBeStaff(_ actor: Actor) throws(BusError) {
        guard actor.isStaff else { throw BusError(.forbidden, "This takes a member of the staff.") }
    }

    /// Staff cannot decide about themselves. A person with a role cannot be suspended: an operator must revoke the role
    /// first.
    ///
    /// - Throws: ``BusError`` `forbidden`.
    static func mayChange(_ person: Identifier, whoseRoleIs role: Role, by decider: Decider) throws(BusError) {
        if case .staff(let actor) = decider {
            try mustBeStaff(actor)
            guard actor.userID != person else {
                throw BusError(.forbidden, "Somebody else must decide about your account.")
            }
        }
        guard role == .user else {
            throw BusError(.forbidden, "This person has a role. An operator must take it away first.")
        }
    }
}
