import BusProtocol

/// What a person does with a code. The SMS says it, so that nobody gives a code away for something else.
enum ChallengeAct: Sendable, Equatable {
    case signIn
    /// An account; with a case, what is left to do of its recovery.
    case recover(Identifier?)
    /// The identity of a link token, by the token's hash.
    case link([UInt8], IdentityProviderName, MaskedEmail?)
    /// For the session that asks.
    case changePhone(Identifier)

    /// Completes "… is your code".
    var words: String {
        switch self {
        case .signIn: "to sign in"
        case .recover(nil): "to recover an account"
        case .recover: "to complete the recovery of an account"
        case .link(_, let provider, let email):
            (["to link", provider.title] + (email.map { [$0.text] } ?? [])).joined(separator: " ")
        case .changePhone: "to make this the number of your account"
        }
    }
}
