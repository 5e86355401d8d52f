import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Checks whether the account of a number is dormant, before a code for the number opens it.
struct DormantNumber: Sendable {
    let audit: AuditTrail
    let secrets: Secrets
    let notifier: PersonNotifier
    /// `AUTH_DORMANT_AFTER`; `nil` if no account counts as dormant.
    let limit: Duration?

    /// The person who has the number of a challenge; `nil` if nobody has it or no account counts as dormant. Locks the
    /// person, since that lock comes before all others.
    @Loop func holder(of challenge: Identifier, in transaction: Transaction) async throws -> Identifier? {
        guard limit != nil, let number = try await ChallengeStore.contact(of: challenge, for: .login, in: transaction)
        else {
            return nil
        }
        let phone = try secrets.hashes(ofSealed: number, for: challenge)
        guard let holder = try await DormancyStore.holder(of: phone, in: transaction) else { return nil }
        Erasure.wait(for: holder, in: transaction)
        return holder
    }

    /// Removes the number from a dormant account if its new holder asks for that.
    ///
    /// - Throws: ``BusError`` `recovery_required`, `account_frozen`. Both roll back the use of the code.
    @Loop func resolve(
        _ challenge: Challenge, of holder: Identifier?, _ claim: DeviceClaim, wantsNewAccount: Bool,
        in transaction: Transaction
    ) async throws {
        guard let holder else { return }
        let phone = try secrets.hashes(of: challenge)
        AccountStore.lock(phone: phone, in: transaction)
        let seenAt = try await DormancyStore.seen(holder, phone: phone, in: transaction)
        let decision = DormancyPolicy.decide(
            seenAt: seenAt, now: challenge.now, isKnownDevice: try await isKnown(claim, to: holder, in: transaction),
            wantsNewAccount: wantsNewAccount, limit: limit)
        switch decision {
        case .signIn: return
        case .ask: throw Self.recoveryRequired
        case .detach: try await detach(holder, in: transaction)
        }
    }

    @Loop private func isKnown(
        _ claim: DeviceClaim, to person: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        guard let id = claim.id, let secret = claim.secret,
            let device = try await DeviceStore.locked(id, person: person, in: transaction)
        else { return false }
        return constantTimeEqual(device.secretHash, secrets.hash(of: secret))
    }

    /// Removes the number from the account. It does not become an alias, since it belongs to another person. A frozen
    /// account keeps its number.
    @Loop private func detach(_ person: Identifier, in transaction: Transaction) async throws {
        // Lock before reading freezes: a recovery that begins locks the account too, so one waits for the other.
        AccountStore.lock(person, in: transaction)
        try await AccountChangeGuard.mustNotBeFrozen(person, in: transaction)
        DormancyStore.detach(person, in: transaction)
        let chain = try await audit.chain(of: person, in: transaction)
        try await RoleLoss.detached.dropRole(of: person, chain, audit, in: transaction)
        audit.note(AuditAct("phone_detached"), on: chain, in: transaction)
        try await notifier.notify(person, .phoneDetached, [:], in: transaction)
    }

    static let recoveryRequired = BusError(
        .recoveryRequired,
        "The account with this number was not used for a long time. Recover it, or begin a new one if it was never yours.",
        details: ["options": ["recover", "new_account"]])
}
