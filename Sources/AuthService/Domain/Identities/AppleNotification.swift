import BusProtocol
import JSONText

/// A notification of Apple's server about an identity.
///
/// Source: Apple, "Processing changes for Sign in with Apple accounts".
struct AppleNotification: Sendable, Equatable {
    enum Event: Sendable, Equatable {
        /// The person removed the app from the Apple account, or deleted that account. The identity has ended.
        case identityEnded
        /// The e-mail address of the identity changed, or its forwarding was switched on or off.
        case emailChanged(MaskedEmail?)
        /// An event that this release does not know.
        case other
    }

    /// In seconds. An older notification is refused, since its `jti` is no longer stored.
    static let life: Int64 = 7 * 86_400

    /// The same id if Apple sends the notification again.
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
        // The claim is a string with a JSON text in it.
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
