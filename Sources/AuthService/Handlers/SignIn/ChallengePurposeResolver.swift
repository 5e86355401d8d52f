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
            throw Self.notAllowed("recoveryId", "Only a recovery can be completed.")
        }
        if request.accountPhone != nil, purpose != .recovery {
            throw Self.notAllowed("accountPhone", "Only an account that is recovered is named.")
        }
        if request.undoes != nil {
            guard request.purpose == nil, request.linkToken == nil else {
                throw Self.notAllowed("undoes", "A code has one purpose.")
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
            let standing = try await StandingStore.standing(of: actor, in: transaction)
            try standing.mustBeFresh(to: Sentence("change your number"))
            try standing.mustNotBeFrozen()
            return .changePhone(actor.sessionID)
        case .recovery:
            return .recover(
                try request.accountPhone.map { phone throws(PhoneError) in try phones.number(phone) },
                request.recoveryId)
        case .login, .undoPhoneChange, .emailLogin, .linkEmail, nil: return .signIn
        }
    }

    /// - Throws: for `link_email`, ``BusError`` `unauthorized`, `reauthentication_required`, `account_frozen`.
    @Loop func act(
        of request: SendEmailCode, _ context: RequestContext, in transaction: Transaction
    ) async throws -> ChallengeAct {
        guard request.purpose == ChallengePurpose.linkEmail.rawValue else { return .signInByEmail }
        // Checked here too, so that no code is sent that could not be used.
        let actor = try context.person()
        let standing = try await StandingStore.standing(of: actor, in: transaction)
        try standing.mustBeFresh(to: Sentence("link your email address"))
        try standing.mustNotBeFrozen()
        return .linkEmail(actor.sessionID)
    }

    @Loop func bind(_ challenge: Identifier, to act: ChallengeAct, in transaction: Transaction) {
        switch act {
        case .signIn, .signInByEmail, .recover(nil, nil), .undoPhoneChange: return
        case .recover(let phone, let recovery):
            let account = phone.map { secrets.reference(ofPhoneHash: secrets.phoneHash.code(for: $0.e164)) }
            LinkStore.bind(
                challenge, recovery: recovery,
                account: account.map { secrets.hash(ofAccount: $0, challenge: challenge) },
                in: transaction)
        case .link(let hash, _, _): LinkStore.bind(challenge, link: hash, in: transaction)
        case .changePhone(let session), .linkEmail(let session):
            LinkStore.bind(challenge, session: session, in: transaction)
        }
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
