/// What a challenge is verified for, and nothing else.
enum ChallengePurpose: String, Sendable {
    case login, recovery
    case changePhone = "change_phone"
    case undoPhoneChange = "undo_phone_change"
}
