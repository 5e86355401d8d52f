/// What a challenge is verified for, and nothing else.
enum ChallengePurpose: String, Sendable {
    case login, recovery
    case changePhone = "change_phone"
    case undoPhoneChange = "undo_phone_change"

    /// Completes "This code was sent …".
    var words: String {
        switch self {
        case .login: "to sign in"
        case .recovery: "to recover an account"
        case .changePhone: "to change the number of an account"
        case .undoPhoneChange: "to give an account its number back"
        }
    }
}
