import BusProtocol
import JSONText

/// What Apple tells of an identity, server to server.
///
/// Source: Apple, "Processing changes for Sign in with Apple accounts".
struct AppleNotification: Sendable, Equatable {
    enum Event: Sendable, Equatable {
        /// The person takes the app off the Apple account, or deletes that: the identity is none any more.
        case identityEnded
        /// The address behind the identity is another one, or is (not) forwarded to any more.
        case emailChanged(MaskedEmail?)
        /// Something that did not exist when this was written.
        case other
    }

    /// Seconds; what is older is no news, and its `jti` is no longer remembered.
    static let life: Int64 = 7 * 86_400

    /// The same whenever Apple tells the same again.
    let id: String
    let subject: String
    let event: Event

    /// - Parameter now: seconds since 1970.
    init(_ token: VerifiedToken, now: Int64) throws(IdentityTokenRefusal) {
        let claims = token.claims
        guard token.issuedAt > now - Self.life,
            claims["exp"].map({ $0.integer.map { $0 > now - IdentityToken.leeway } ?? false }) ?? true
        else { throw .expired }
        guard let id = claims["jti"]?.string, (1...255).contains(id.utf8.count) else { throw .malformed }
        // A JSON text within the JSON.
        guard let text = claims["events"]?.string, let event = try? JSONDocument(Array(text.utf8)).root,
            let subject = event["sub"]?.string, ProvenIdentity.isSubject(subject), let type = event["type"]?.string
        else { throw .malformed }
        self.id = id
        self.subject = subject
        self.event =
            switch type {
            case "consent-revoked", "account-delete", "account-deleted": .identityEnded
            case "email-disabled", "email-enabled":
                .emailChanged(event["email"]?.string.flatMap { MaskedEmail($0) })
            default: .other
            }
    }
}
