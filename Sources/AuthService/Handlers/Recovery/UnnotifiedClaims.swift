import BusProtocol
import Database
import EventLoop
import ServiceRuntime

/// Notifies an owner of a claim if recovery does not. So an attacker who controls recovery cannot move an account
/// without a notice.
struct UnnotifiedClaims: Sendable {
    let database: Database
    let secrets: Secrets
    let notifier: PersonNotifier

    static let timer = "timer:untold-claim"
    /// How long auth waits for recovery. Recovery notifies the owner of a claim at once, or an hour later together with
    /// others of the day. A hold is much longer than this.
    private static let patience = Duration.seconds(7200)

    /// Schedules a notice for the owner, unless ``told(_:of:in:)`` is called first.
    @Loop static func watch(_ caseID: Identifier, from now: Timestamp, in transaction: Transaction, _ outbox: Outbox) {
        outbox.enqueue(timer, id: caseID, payload: caseID.array, dueAt: now + patience, in: transaction)
    }

    /// Cancels the scheduled notices for cases of which recovery notified the owner. It ignores other people's cases.
    @Loop static func told(_ cases: [Identifier], of person: Identifier, in transaction: Transaction) {
        FreezeStore.dropTimers(timer, of: cases, of: person, in: transaction)
    }

    @Loop func notify(_ item: OutboxItem) async throws {
        guard let id = Identifier(item.payload) else { return }
        try await database.transaction { transaction in
            guard let person = try await FreezeStore.person(of: id, in: transaction) else { return }
            Erasure.wait(for: person, in: transaction)
            let freeze = try await FreezeStore.locked(id, secrets.freezeSealer, in: transaction)
            guard let freeze, !freeze.isOver, !freeze.isApplied else { return }
            let data = ["recoveryId": id.description, "claimantPhone": freeze.maskedClaimantPhone]
            try await notifier.notify(person, .recoveryRequested, data, in: transaction)
            try await notifier.notifyHolder(
                of: person, .recoveryRequested, data, unlessHeldBy: [freeze.claimantReference], in: transaction)
        }
    }
}
