import BusProtocol
import EventLoop

/// Pages that the contracts of the exports share.
enum ExportSample {
    static let page = ExportPage(
        records: [#"{"kind":"profile","fields":{"displayName":{"state":"answered","value":"Zoë"}}}"#], next: "1:0199")
    static let smallest = ExportPage(records: [], next: nil)
    static let largest = ExportPage(
        records: [String](repeating: #"{"kind":"device","name":"📱"}"#, count: 50),
        next: String(repeating: "n", count: 300))
}

extension ExportAccount: MessageContract {
    static let canonical = ExportAccount(after: "1:0199")
    static let minimal = ExportAccount(after: nil)
    static let maximal = ExportAccount(after: String(repeating: "ö", count: 300))

    static let canonicalReply = ExportSample.page
    static let minimalReply = ExportSample.smallest
    static let maximalReply = ExportSample.largest
    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.reauthenticationRequired, "Please sign in again to export your data."),
        BusError(
            .accountFrozen, "This account is protected because of a recovery request. Please try again later.",
            retryAfter: .seconds(86_400)),
    ]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: AuthProvider) async throws -> Asked<ExportAccount> {
        let session = try await provider.session()
        return Asked(ExportAccount(after: nil), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, ExportAccount>] = [
        "unauthorized": { _ in Asked(ExportAccount(after: nil)) },
        "reauthentication_required": { auth in
            let asked = try await everyday(auth)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return asked
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let session = try await auth.session(phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return Asked(ExportAccount(after: nil), for: session.user.id, in: session.sessionId)
        },
    ]
}

extension ExportProfile: MessageContract {
    static let canonical = ExportProfile(after: "1:0199")
    static let minimal = ExportProfile(after: nil)
    static let maximal = ExportProfile(after: String(repeating: "ö", count: 300))

    static let canonicalReply = ExportSample.page
    static let minimalReply = ExportSample.smallest
    static let maximalReply = ExportSample.largest
    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: ProfileProvider) async throws -> Asked<ExportProfile> {
        Asked(ExportProfile(after: nil), for: try await provider.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, ExportProfile>] = [
        "unauthorized": { _ in Asked(ExportProfile(after: nil)) }
    ]
}

extension ExportAnswers: MessageContract {
    static let canonical = ExportAnswers(after: "1:0199")
    static let minimal = ExportAnswers(after: nil)
    static let maximal = ExportAnswers(after: String(repeating: "ö", count: 300))

    static let canonicalReply = ExportSample.page
    static let minimalReply = ExportSample.smallest
    static let maximalReply = ExportSample.largest
    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: QuestionnaireProvider) async throws -> Asked<ExportAnswers> {
        let person = Identifier.random()
        try await provider.reply(to: provider.item(QuestionnaireProvider.required[0], for: person))
        return Asked(ExportAnswers(after: nil), for: person)
    }

    static let provocations: [String: Provocation<QuestionnaireProvider, ExportAnswers>] = [
        "unauthorized": { _ in Asked(ExportAnswers(after: nil)) }
    ]
}

extension ExportCases: MessageContract {
    static let canonical = ExportCases(after: "1:0199")
    static let minimal = ExportCases(after: nil)
    static let maximal = ExportCases(after: String(repeating: "ö", count: 300))

    static let canonicalReply = ExportSample.page
    static let minimalReply = ExportSample.smallest
    static let maximalReply = ExportSample.largest
    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: RecoveryProvider) async throws -> Asked<ExportCases> {
        _ = try await provider.heldCase()
        return Asked(ExportCases(after: nil), for: provider.owner)
    }

    static let provocations: [String: Provocation<RecoveryProvider, ExportCases>] = [
        "unauthorized": { _ in Asked(ExportCases(after: nil)) }
    ]
}

extension BeginExport: MessageContract {
    static let canonical = BeginExport()
    static let minimal = BeginExport()
    static let maximal = BeginExport()

    static let canonicalReply = ExportBegun()
    static let minimalReply = ExportBegun()
    static let maximalReply = ExportBegun()
    static let errors: [BusError] = ExportAccount.errors

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    @Loop private static func asked(_ session: Session, _ auth: AuthProvider) -> Asked<BeginExport> {
        Asked(BeginExport(), for: session.user.id, in: session.sessionId, key: auth.key())
    }

    static func everyday(_ auth: AuthProvider) async throws -> Asked<BeginExport> {
        asked(try await auth.session(), auth)
    }

    static let provocations: [String: Provocation<AuthProvider, BeginExport>] = [
        "unauthorized": { _ in Asked(BeginExport()) },
        "reauthentication_required": { auth in
            let asked = try await everyday(auth)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return asked
        },
        "account_frozen": { auth in
            let phone = auth.newPhone()
            let session = try await auth.session(phone: phone)
            try await auth.reply(to: try await auth.claim(of: phone))
            return asked(session, auth)
        },
    ]
}
