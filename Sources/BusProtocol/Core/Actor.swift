/// The person behind a public request. The gateway fills it from a verified access token.
public struct Actor: Sendable, Codable, Equatable {
    /// The person.
    public var userID: Identifier
    /// The session that the access token belongs to.
    public var sessionID: Identifier
    /// `user`, `staff` or `admin`.
    public var role: String

    /// Takes the person, the session and the role (`user`, `staff` or `admin`).
    public init(userID: Identifier, sessionID: Identifier, role: String) {
        (self.userID, self.sessionID, self.role) = (userID, sessionID, role)
    }
}
