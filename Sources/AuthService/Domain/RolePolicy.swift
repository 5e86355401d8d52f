import BusProtocol

/// Decides whether a role counts in a session. Staff and admins need a session that a linked identity opened in the
/// last eight hours. So neither a number nor an old phone is enough.
struct RolePolicy: Sendable {
    /// How long after its opening a session grants the role.
    static let shift = Duration.seconds(8 * 3600)

    /// Whether the role counts in every session, as in the development profile.
    let isLax: Bool

    /// The role and the lifetime for an access token.
    struct Grant: Sendable, Equatable {
        let role: Role
        /// The lifetime of the token in seconds.
        let lifetime: Int64
    }

    /// - Parameters:
    ///   - role: of the account.
    ///   - hasIdentity: whether a linked identity opened the session.
    ///   - openedAt: when the session was opened.
    func grant(_ role: Role, hasIdentity: Bool, openedAt: Timestamp, now: Timestamp) -> Grant {
        let whole = AccessTokenIssuer.lifetime
        guard role != .user, !isLax else { return Grant(role: role, lifetime: whole) }
        let left = ((openedAt + Self.shift).microsecondsSinceEpoch - now.microsecondsSinceEpoch) / 1_000_000
        guard hasIdentity, left > 0 else { return Grant(role: .user, lifetime: whole) }
        // The last token of a shift expires with the shift.
        return Grant(role: role, lifetime: min(whole, left))
    }
}

/// Decides whether one operator may change a role alone. It uses no clock and no table.
enum RoleChange {
    /// How long a change of the role `admin` waits for a second operator.
    static let patience = Duration.seconds(86_400)

    /// An operator who asks for a change.
    struct Operator: Sendable, Equatable {
        let name: String
        /// The public key of the operator's connection; `nil` on a bus without keys.
        let key: String?
    }

    enum Decision: Sendable, Equatable {
        case unchanged
        /// The change waits for another operator.
        case propose
        case become(Role)
    }

    /// - Parameters:
    ///   - held: the person's present role.
    ///   - proposer: who asked for the same change within the last `patience`.
    ///   - needsOtherKey: whether the second operator needs another key, not only another name.
    static func decide(
        held: Role, role: Role, isGranted: Bool, by requester: Operator, proposer: Operator?, needsOtherKey: Bool
    ) -> Decision {
        // An admin already has all rights of staff. Revoking `staff` from an admin changes nothing.
        let isNews = isGranted ? held != role && held != .admin : held == role
        guard isNews else { return .unchanged }
        guard role == .admin else { return .become(isGranted ? role : .user) }
        guard let proposer, proposer.name != requester.name, !needsOtherKey || proposer.key != requester.key else {
            return .propose
        }
        return .become(isGranted ? role : .user)
    }
}
