/// Where a code is sent to.
enum Contact: Sendable, Equatable {
    case phone(PhoneNumber)
    case email(EmailAddress)

    enum Kind: String, Sendable, CaseIterable {
        case phone, email

        /// The destination of messages in the outbox.
        var destination: String {
            switch self {
            case .phone: "sms"
            case .email: "email"
            }
        }
    }

    var kind: Kind {
        switch self {
        case .phone: .phone
        case .email: .email
        }
    }

    /// The number in E.164 form, or the normalised address. Messages go to it, and it is hashed and sealed.
    var text: String {
        switch self {
        case .phone(let number): number.e164
        case .email(let address): address.text
        }
    }

    var masked: String {
        switch self {
        case .phone(let number): number.masked
        case .email(let address): address.masked
        }
    }
}
