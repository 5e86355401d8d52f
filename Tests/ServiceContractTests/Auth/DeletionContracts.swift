import BusProtocol
import EventLoop

extension DeleteAccount: MessageContract {
    static let canonical = DeleteAccount()
    static let minimal = DeleteAccount()
    static let maximal = DeleteAccount()

    static let canonicalReply = AccountDeletion(status: "deleting")
    static let minimalReply = AccountDeletion(status: "d")
    static let maximalReply = AccountDeletion(status: String(repeating: "d", count: 32))

    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(.reauthenticationRequired, "Please sign in again to delete your account."),
        BusError(
            .accountFrozen, "This account is protected because of a recovery request. Please try again later.",
            retryAfter: .seconds(86_400)),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<DeleteAccount> {
        let session = try await auth.session()
        return Asked(DeleteAccount(), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, DeleteAccount>] = [
        "unauthorized": { _ in Asked(DeleteAccount()) },
        "reauthentication_required": { auth in
            let asked = try await everyday(auth)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return asked
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let session = try await auth.session(phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return Asked(DeleteAccount(), for: session.user.id, in: session.sessionId)
        },
    ]
}

extension AccountDeleted: MessageContract {
    static let canonical = AccountDeleted(personID: Sample.person, personSequence: 4, deletedAt: Sample.everyday)
    static let minimal = AccountDeleted(personID: Sample.person, deletedAt: Sample.earliest)
    static let maximal = AccountDeleted(
        personID: Sample.person, personSequence: Sample.largestInteger, deletedAt: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<AccountDeleted> {
        Asked(
            AccountDeleted(personID: try await profile.person(), personSequence: 2, deletedAt: .now()), as: .auth)
    }

    static let provocations: [String: Provocation<ProfileProvider, AccountDeleted>] = [:]
}
