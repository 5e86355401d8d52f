/// The person on whose behalf a public request is made, as the gateway vouches for it from a verified access token.
public struct Actor: Sendable, Codable, Equatable {
    public var userID: Identifier
    public var sessionID: Identifier
    /// `user`, `staff` or `admin`.
    public var role: String

    public init(userID: Identifier, sessionID: Identifier, role: String) {
        (self.userID, self.sessionID, self.role) = (userID, sessionID, role)
    }
}
