/// The person behind a public request. The gateway fills it from a verified access token.
public struct Actor: Sendable, Codable, Equatable {
    /// The person.
    public var userID: Identifier
    /// The session that the access token belongs to.
    public var sessionID: Identifier
    /// What the person may do.
    public var role: Role
    /// Whether the role is `staff` or `admin`.
    public var isStaff: Bool { role == .staff || isAdmin }
    /// Whether the role is `admin`.
    public var isAdmin: Bool { role == .admin }
    /// The publishable key of the app that the person signed in to; `nil` for the default app.
    public var app: String?

    /// Takes the person, the session, the role and the app, `nil` for the default app.
    public init(userID: Identifier, sessionID: Identifier, role: Role, app: String? = nil) {
        (self.userID, self.sessionID, self.role, self.app) = (userID, sessionID, role, app)
    }
}
