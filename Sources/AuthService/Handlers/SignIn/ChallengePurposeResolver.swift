import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages

/// Determines what a code is requested for, and binds the challenge to it.
struct ChallengePurposeResolver: Sendable {
    let secrets: Secrets
    let phones: PhonePolicy

    /// - Throws: ``BusError`` `link_token_expired`; `validation_failed` for a field that does not fit the purpose;
    ///   `invalid_phone`. For `change_phone`: `unauthorized`, `reauthentication_required`, `account_frozen`.
    @Loop func act(
        of request: SendOTP, _ context: RequestContext, in transaction: Transaction
    ) async throws -> ChallengeAct {
        let purpose = request.purpose.map { ChallengePurpose(rawValue: $0) } ?? .login
        if request.recoveryId != nil, purpose != .recovery {
            throw Self.notAllowed("recoveryId", "Leave this out unless the purpose is recovery.")
        }
        for (field, value) in [("accountPhone", request.accountPhone), ("accountEmail", request.accountEmail)]
        where value != nil && purpose != .recovery {
            throw Self.notAllowed(field, "Leave this out unless the purpose is recovery.")
        }
        if request.undoes != nil {
            guard request.purpose == nil, request.linkToken == nil else {
                throw Self.notTheOnlyPurpose("undoes")
            }
            return .undoPhoneChange
        }
        if let token = request.linkToken {
            guard purpose == .login else {
                throw Self.notAllowed("linkToken", "Only a sign-in can link an identity.")
            }
            let hash = secrets.hash(of: token)
            guard let link = try await LinkStore.pending(hash, in: transaction) else { throw BusError.linkTokenExpired }
            if link.isEmail { return .link(hash, nil, MaskedEmail(try secrets.email(of: link))) }
            let identity = try secrets.identity(link.sealed, hash: link.identity)
            return .link(hash, identity.provider, identity.email)
        }
        switch purpose {
        case .changePhone:
            // Checked here too, so that no code is sent that could not be used.
            let actor = try context.person()
            let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
            try permission.mustBeFresh(to: Sentence("change your number"))
            try permission.mustNotBeFrozen()
            return .changePhone(actor.sessionID)
        case .recovery:
            guard let phone = request.accountPhone else {
                return .recover(try contact(ofEmail: request.accountEmail), request.recoveryId, by: .phone)
            }
            guard request.accountEmail == nil else {
                throw Self.notAllowed("accountEmail", "Give the account's number or its email address, not both.")
            }
            return .recover(.phone(try phones.number(phone)), request.recoveryId, by: .phone)
        case .login, .undoPhoneChange, .emailLogin, .linkEmail, .emailRecovery, .emailUndo, nil: return .signIn
        }
    }

    private func contact(ofEmail text: String?) throws(BusError) -> Contact? {
        guard let text else { return nil }
        return .email(try EmailAddress(text, field: "accountEmail"))
    }

    /// - Throws: ``BusError`` `validation_failed`. For `link_email`: `unauthorized`, `reauthentication_required`,
    ///   `account_frozen`.
    @Loop func act(
        of request: SendEmailCode, _ context: RequestContext, in transaction: Transaction
    ) async throws -> ChallengeAct {
        if request.undoes != nil {
            guard request.purpose == nil, request.recovery == nil else {
                throw Self.notTheOnlyPurpose("undoes")
            }
            return .undoFirstNumber
        }
        if let recovery = request.recovery {
            guard request.purpose == nil else { throw Self.notTheOnlyPurpose("recovery") }
            return .recover(try contact(ofEmail: recovery.accountEmail), recovery.recoveryId, by: .email)
        }
        guard request.purpose == ChallengePurpose.linkEmail.rawValue else { return .signInByEmail }
        // Checked here too, so that no code is sent that could not be used.
        let actor = try context.person()
        let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
        try permission.mustBeFresh(to: Sentence("link your email address"))
        try permission.mustNotBeFrozen()
        return .linkEmail(actor.sessionID)
    }

    @Loop func bind(_ challenge: Identifier, to act: ChallengeAct, in transaction: Transaction) {
        switch act {
        case .signIn, .signInByEmail, .recover(nil, nil, _), .undoPhoneChange, .undoFirstNumber: return
        case .recover(let named, let recovery, _):
            let account = named.map { secrets.reference(of: secrets.hashes(of: $0).lasting) }
            LinkStore.bind(
                challenge, recovery: recovery,
                account: account.map { secrets.hash(ofAccount: $0, challenge: challenge) },
                in: transaction)
        case .link(let hash, _, _): LinkStore.bind(challenge, link: hash, in: transaction)
        case .changePhone(let session), .linkEmail(let session):
            LinkStore.bind(challenge, session: session, in: transaction)
        }
    }

    private static func notTheOnlyPurpose(_ field: String) -> BusError {
        notAllowed(field, "A code has only one purpose. Leave this out, or the other one.")
    }

    private static func notAllowed(_ field: String, _ message: String) -> BusError {
        BusError(
            .validationFailed, "Some members of the request are missing or wrong.",
            errors: [.init(field: field, code: "not_allowed", message: message)])
    }
}

extension BusError {
    static var linkTokenExpired: BusError {
        BusError(.linkTokenExpired, "This took too long. Please sign in with your provider again.")
    }
}
