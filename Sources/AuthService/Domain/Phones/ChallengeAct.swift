import BusProtocol
import Languages

/// The act that a code is for. The message names it, so that nobody is tricked into giving a code away.
enum ChallengeAct: Sendable, Equatable {
    case signIn
    /// Recover an account, by the number or address that the claimant named. With a case id: complete that recovery. The
    /// claimant proves a contact of the last kind.
    case recover(Contact?, Identifier?, by: Contact.Kind)
    /// Link the identity of a link token, or the email address where there is no provider. The first value is the
    /// token's hash.
    case link([UInt8], IdentityProviderName?, MaskedEmail?)
    /// Change the number of the account. The value is the session that asks.
    case changePhone(Identifier)
    case undoPhoneChange
    /// Take the first number off the account of an email address.
    case undoFirstNumber
    case signInByEmail
    /// Let an email address open the account. The value is the session that asks.
    case linkEmail(Identifier)

    /// The purpose of the challenge. A code is accepted for this purpose only.
    var purpose: ChallengePurpose {
        switch self {
        case .signIn, .link: .login
        case .recover(_, _, by: .phone): .recovery
        case .recover(_, _, by: .email): .emailRecovery
        case .changePhone: .changePhone
        case .undoPhoneChange: .undoPhoneChange
        case .undoFirstNumber: .emailUndo
        case .signInByEmail: .emailLogin
        case .linkEmail: .linkEmail
        }
    }

    /// Completes "… is your code". It repeats only what the claimant said, so it does not reveal whether there is an
    /// account.
    var words: Sentence {
        switch self {
        case .signIn, .signInByEmail: return Sentence("to sign in")
        case .recover(let named, let recovery, _):
            let account: Sentence =
                switch named {
                case .phone(let number): Sentence("the account ending \(number.e164.suffix(4))")
                case .email(let address): Sentence("the account \(address.masked)")
                case nil: Sentence("an account")
                }
            return recovery == nil
                ? Sentence("to recover \(account)") : Sentence("to complete the recovery of \(account)")
        case .link(_, let provider, let email):
            let linked: Sentence = provider.map { "\($0.title)" } ?? Sentence("your email address")
            return email.map { Sentence("to link \(linked) \($0.text)") } ?? Sentence("to link \(linked)")
        case .changePhone: return Sentence("to make this the number of your account")
        case .undoPhoneChange: return Sentence("to give your account this number back")
        case .undoFirstNumber: return Sentence("to take its first number off your account")
        case .linkEmail: return Sentence("to sign in to your account with this email address")
        }
    }
}
