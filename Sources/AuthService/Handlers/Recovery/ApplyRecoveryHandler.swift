import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Moves an account to its claimant in one transaction. The account gets the claimant's number or address and a new session. Its
/// older sessions and devices end, and those devices are notified.
///
/// The account keeps its id, so that other services keep their data about the person.
struct ApplyRecoveryHandler: RequestHandler {
    let inbox: Inbox
    let outbox: Outbox
    let audit: AuditTrail
    let secrets: Secrets
    let claimants: ClaimantChecker
    let opener: SessionOpener
    let notifier: PersonNotifier

    func handle(_ request: ApplyRecovery, context: RequestContext) async throws -> RecoveryMoved {
        try await inbox.once(context, carriesToken: true) { transaction in
            let person = try await FreezeStore.person(of: request.caseID, in: transaction)
            if let person { Erasure.wait(for: person, in: transaction) }
            guard
                let freeze = try await FreezeStore.locked(
                    request.caseID, secrets.freezeSealer, in: transaction)
            else { throw Self.closed }
            guard !freeze.isApplied else { throw Self.applied }
            guard freeze.holdSeconds == 0 else { throw Self.held(for: freeze.holdSeconds) }
            let result = try await claimants.check(
                request.challengeID, request.code, of: request.caseID, freeze, in: transaction)
            switch result {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge):
                // This refusal comes after the code was checked and used, as when an account is moved. So a wrong code
                // does not reveal that a case shown as approved is a decoy.
                guard let person, !freeze.isOver else {
                    let owner = try await AccountStore.owner(
                        challenge.contact, try secrets.hashes(of: challenge), in: transaction)
                    if let owner, owner != person { throw BusError.claimantHasAccount(challenge.contact) }
                    var refusal = Self.closed
                    refusal.executed = .yes
                    return .refusal(refusal)
                }
                let session = try await move(
                    person, to: challenge, request, language: context.language, in: transaction)
                return .reply(RecoveryMoved(session: session))
            }
        }
    }

    static let closed = BusError(.recoveryClosed, "This recovery is over.")
    private static func held(for seconds: Int64) -> BusError {
        BusError(
            .recoveryNotReady, "The hold of this recovery is not over yet. Please come back later.",
            retryAfter: .seconds(seconds))
    }
    private static let applied = BusError(
        .idempotencyAnswerGone, "This recovery was completed. Please sign in with your number.")

    @Loop private func move(
        _ person: Identifier, to challenge: Challenge, _ request: ApplyRecovery, language: String?,
        in transaction: Transaction
    ) async throws -> Session {
        AccountStore.lock(person, in: transaction)
        let (kind, contact) = (challenge.contact, try secrets.contact(of: challenge))
        let keys = secrets.keys(of: kind)
        let hashes = keys.hashes(of: contact)
        let owner = try await AccountStore.owner(kind, hashes, in: transaction)
        guard owner == nil || owner == person else { throw BusError.claimantHasAccount(kind) }
        // Notify first: the push tokens and the former contact are deleted below.
        let data = [kind.rawValue: kind.masked(contact)]
        try await notifier.notify(person, .recoveryCompleted, data, in: transaction)
        try await notifier.notifyHolder(
            of: person, .recoveryCompleted, data, unlessHeldBy: [secrets.reference(of: hashes.lasting)],
            in: transaction)
        let sealed = keys.seal(contact, for: person)
        if kind == .phone, owner == nil { PhoneStore.move(person, to: hashes, sealed: sealed, in: transaction) }
        // A thief may hold the replaced number, or numbers that sessions gave the account meanwhile. So no former
        // number may recover the account.
        PhoneStore.dropAliases(of: person, in: transaction)
        let chain = try await audit.chain(of: person, in: transaction)
        SessionStore.revokeAll(of: person, but: nil, .recovered, chain: chain, in: transaction)
        FreezeStore.endDevices(of: person, in: transaction)
        if kind == .email { EmailStore.insert(hashes, of: person, sealed: sealed, in: transaction) }
        try await RoleLoss.recovered.dropRole(of: person, chain, audit, in: transaction)
        audit.note(
            AuditAct("account_recovered", ["case": request.caseID.description]), on: chain, in: transaction)
        FreezeStore.noteApplied(request.caseID, in: transaction)
        try await outbox.publish(
            RecoveryApplied(personID: person, caseID: request.caseID, appliedAt: challenge.now), in: transaction)
        guard
            let account = try await Account(
                AccountStore.account(person, in: transaction), audit: audit, in: transaction)
        else { throw DatabaseError.aborted }
        var device = request.device
        (device.id, device.secret) = (nil, nil)
        return try await opener.open(
            account, device, by: kind.signIn, app: nil, language: language, now: challenge.now, in: transaction)
    }
}

struct CheckRecoveryHandler: RequestHandler {
    let database: Database

    func handle(_ request: CheckRecovery, context: RequestContext) async throws -> RecoveryChecked {
        RecoveryChecked(isApplied: try await FreezeStore.isApplied(request.caseID, in: database))
    }
}

extension Secrets {
    /// Whether a challenge may be used for an account. A challenge that names no account may be used for any.
    ///
    /// - Parameters:
    ///   - account: the reference of what names the account.
    ///   - named: the hash of the account that the challenge names; `nil` if it names none.
    func isOf(_ account: String, _ challenge: Challenge, _ named: [UInt8]?) -> Bool {
        named.map { constantTimeEqual($0, hash(ofAccount: account, challenge: challenge.id)) } ?? true
    }
}

extension BusError {
    static func claimantHasAccount(_ kind: Contact.Kind) -> BusError {
        BusError(
            .claimantHasAccount,
            kind == .phone
                ? "This number has an account of its own. Delete that account first, or claim with another number."
                : "This email address has an account of its own. Delete that account first, or claim with another address."
        )
    }
    static func claimUnderWay(_ kind: Contact.Kind) -> BusError {
        BusError(
            .recoveryInProgress,
            kind == .phone
                ? "A recovery with this number is under way. Cancel it before you open a new account."
                : "A recovery with this email address is under way. Cancel it before you open a new account."
        )
    }
}
