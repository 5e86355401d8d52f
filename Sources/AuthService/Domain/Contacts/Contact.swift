/// The destination of a code: a phone number or an email address.
enum Contact: Sendable, Equatable {
    case phone(PhoneNumber)
    case email(EmailAddress)

    enum Kind: String, Sendable, CaseIterable {
        case phone, email

        /// A number or an address, masked for texts so that only its owner recognises it.
        ///
        /// - Parameter contact: ``Contact/text`` as UTF-8.
        func masked(_ contact: [UInt8]) -> String {
            let text = String(decoding: contact, as: UTF8.self)
            switch self {
            case .phone: return PhoneNumber(text)?.masked ?? "another number"
            case .email: return EmailAddress(text)?.masked ?? "another address"
            }
        }

        /// How a code to the contact opens a session.
        var signIn: SignInMethod { self == .phone ? .phoneCode : .emailCode }

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
