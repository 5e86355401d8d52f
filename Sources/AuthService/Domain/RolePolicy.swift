import BusProtocol

/// What a person's role is worth in a session: staff and admin act only in one that a linked identity opened a few hours ago,
/// so that neither a number nor an old phone is enough.
struct RolePolicy: Sendable {
    /// As long as a session serves for more than an ordinary person's acts.
    static let shift = Duration.seconds(8 * 3600)

    /// The development profile: the role counts in every session.
    let isLax: Bool

    /// What an access token says of its bearer.
    struct Grant: Sendable, Equatable {
        let role: String
        /// Seconds that the token may live.
        let lifetime: Int64
    }

    /// - Parameters:
    ///   - role: of the account.
    ///   - hasIdentity: a linked identity opened the session.
    ///   - openedAt: when the session was opened.
    func grant(_ role: String, hasIdentity: Bool, openedAt: Timestamp, now: Timestamp) -> Grant {
        let whole = AccessTokenIssuer.lifetime
        guard role != "user", !isLax else { return Grant(role: role, lifetime: whole) }
        let left = ((openedAt + Self.shift).microsecondsSinceEpoch - now.microsecondsSinceEpoch) / 1_000_000
        guard hasIdentity, left > 0 else { return Grant(role: "user", lifetime: whole) }
        // The last token of a shift ends with it.
        return Grant(role: role, lifetime: min(whole, left))
    }
}

/// Whether an operator alone may change a role. No clock and no table in here.
enum RoleChange {
    /// A change of the role `admin` waits so long for a second operator.
    static let patience = Duration.seconds(86_400)

    /// Who asks.
    struct Operator: Sendable, Equatable {
        let name: String
        /// The public key of the operator's connection; `nil` on a bus without keys.
        let key: String?
    }

    enum Decision: Sendable, Equatable {
        case unchanged
        /// It waits for another operator.
        case propose
        case become(String)
    }

    /// - Parameters:
    ///   - held: the role that the person has.
    ///   - proposer: who asked for the same change before, and not too long ago.
    ///   - needsOtherKey: two operators are told apart by their keys, too; else by their names alone.
    static func decide(
        held: String, role: String, isGranted: Bool, by requester: Operator, proposer: Operator?, needsOtherKey: Bool
    ) -> Decision {
        // Whoever is admin may all that staff may, and loses that by name only.
        let isNews = isGranted ? held != role && held != "admin" : held == role
        guard isNews else { return .unchanged }
        guard role == "admin" else { return .become(isGranted ? role : "user") }
        guard let proposer, proposer.name != requester.name, !needsOtherKey || proposer.key != requester.key else {
            return .propose
        }
        return .become(isGranted ? role : "user")
    }
}
