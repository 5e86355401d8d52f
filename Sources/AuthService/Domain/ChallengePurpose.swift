import Languages

/// The one act for which a challenge may be verified.
enum ChallengePurpose: String, Sendable, CaseIterable {
    case login, recovery
    case changePhone = "change_phone"
    case undoPhoneChange = "undo_phone_change"
    /// A sign-in by a code to an email address.
    case emailLogin = "email_login"
    case linkEmail = "link_email"
    /// A recovery by a claimant who proves an email address.
    case emailRecovery = "email_recovery"
    /// Taking the first number off the account of an email address.
    case emailUndo = "email_undo"

    /// The kind of contact to which the challenge's code was sent.
    var contact: Contact.Kind {
        switch self {
        case .login, .recovery, .changePhone, .undoPhoneChange: .phone
        case .emailLogin, .linkEmail, .emailRecovery, .emailUndo: .email
        }
    }

    /// Completes "This code was sent …".
    var words: Sentence {
        switch self {
        case .login: Sentence("to sign in")
        case .recovery, .emailRecovery: Sentence("to recover an account")
        case .changePhone: Sentence("to change the number of an account")
        case .undoPhoneChange: Sentence("to give an account its number back")
        case .emailLogin: Sentence("to sign in by email")
        case .linkEmail: Sentence("to link an email address")
        case .emailUndo: Sentence("to take the first number off an account")
        }
    }
}
