import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Looks whether the account behind a number sleeps, before a code for the number opens it.
struct DormantNumber: Sendable {
    let audit: AuditTrail
    let secrets: Secrets
    let notifier: PersonNotifier
    /// `AUTH_DORMANT_AFTER`; `nil`: never.
    let limit: Duration?

    /// Whose number a challenge is for, with the account's turn taken: it comes before every other lock.
    @Loop func holder(of challenge: Identifier, in transaction: Transaction) async throws -> Identifier? {
        guard limit != nil, let number = try await ChallengeStore.number(of: challenge, in: transaction) else {
            return nil
        }
        let phone = try secrets.hashes(ofSealed: number, for: challenge)
        guard let holder = try await DormancyStore.holder(of: phone, in: transaction) else { return nil }
        Erasure.wait(for: holder, in: transaction)
        return holder
    }

    /// Takes the number off an account that slept, where its new holder says so.
    ///
    /// - Throws: ``BusError`` `recovery_required` and `account_frozen`, which take back that the code was used.
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

    /// The number is no alias of the account either: it is another person's. While somebody recovers the account it stays.
    @Loop private func detach(_ person: Identifier, in transaction: Transaction) async throws {
        // Before the freezes are read: who begins one waits for the account, and is waited for.
        AccountStore.lock(person, in: transaction)
        try await StandingStore.mustNotBeFrozen(person, in: transaction)
        DormancyStore.detach(person, in: transaction)
        let chain = try await audit.chain(of: person, in: transaction)
        try await RoleStore.drop(of: person, .detached, chain, audit, in: transaction)
        audit.note(AuditAct("phone_detached"), on: chain, in: transaction)
        try await notifier.notify(person, .phoneDetached, [:], in: transaction)
    }

    static let recoveryRequired = BusError(
        .recoveryRequired,
        "The account with this number was not used for a long time. Recover it, or begin a new one if it was never yours.",
        details: ["options": ["recover", "new_account"]])
}
