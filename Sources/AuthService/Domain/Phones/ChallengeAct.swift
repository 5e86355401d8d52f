import BusProtocol

/// What a person does with a code. The SMS says it, so that nobody gives a code away for something else.
enum ChallengeAct: Sendable, Equatable {
    case signIn
    /// An account, as it was named; with a case, what is left to do of its recovery.
    case recover(PhoneNumber?, Identifier?)
    /// The identity of a link token, by the token's hash.
    case link([UInt8], IdentityProviderName, MaskedEmail?)
    /// For the session that asks.
    case changePhone(Identifier)
    case undoPhoneChange

    /// Of the challenge: it is verified for this and nothing else.
    var purpose: ChallengePurpose {
        switch self {
        case .signIn, .link: .login
        case .recover: .recovery
        case .changePhone: .changePhone
        case .undoPhoneChange: .undoPhoneChange
        }
    }

    /// Completes "… is your code". Of an account it says no more than the claimant did, be there one or not.
    var words: String {
        switch self {
        case .signIn: return "to sign in"
        case .recover(let phone, let recovery):
            let account = phone.map { "the account ending \($0.e164.suffix(4))" } ?? "an account"
            return recovery == nil ? "to recover \(account)" : "to complete the recovery of \(account)"
        case .link(_, let provider, let email):
            return (["to link", provider.title] + (email.map { [$0.text] } ?? [])).joined(separator: " ")
        case .changePhone: return "to make this the number of your account"
        case .undoPhoneChange: return "to give your account this number back"
        }
    }
}
