import Languages

/// How a session was opened.
enum SignInMethod: Sendable, Equatable {
    case phoneCode, emailCode
    case identity(IdentityProviderName)

    /// The provider whose identity opened the session; `nil` if a code did.
    var provider: IdentityProviderName? {
        guard case .identity(let provider) = self else { return nil }
        return provider
    }

    /// The name in texts for people.
    var title: Sentence {
        switch self {
        case .phoneCode: Sentence("a phone number")
        case .emailCode: Sentence("an email address")
        case .identity(let provider): "\(provider.title)"
        }
    }

    /// The name in an app's plan.
    var planName: String {
        switch self {
        case .phoneCode: "phone_code"
        case .emailCode, .identity: name
        }
    }

    /// The name in the audit trail.
    var name: String {
        switch self {
        case .phoneCode: "code"
        case .emailCode: "email_code"
        case .identity(let provider): provider.rawValue
        }
    }
}
