import BusProtocol
import Database
import EventLoop

/// Applies events of the database's clock to cases, by durable timers.
struct CaseTimers: Sendable {
    let database: Database
    let cases: CaseWorkflow

    /// Ends the hold of a case.
    @Loop func endHold(_ item: OutboxItem) async throws {
        try await fire(item, .holdEnded, CaseWorkflow.holdTimer) { $0.holdUntil }
    }

    /// Ends a case in which nobody acted in time.
    @Loop func endWaiting(_ item: OutboxItem) async throws {
        try await fire(item, .neglected, CaseWorkflow.neglectTimer) { $0.expiresAt }
    }

    /// Decides a shadow case. Its timer waits as long as a real decision takes.
    @Loop func decideDecoy(_ item: OutboxItem) async throws {
        guard let id = Identifier(item.payload) else { return }
        try await database.transaction { transaction in
            guard let record = try await CaseStore.locked(id, in: transaction), record.life.isDecidedByClock,
                let event = DecoyOutcome.event(in: record.life.seen, by: .random(in: 0...UInt64.max))
            else { return }
            _ = try await cases.apply(event, by: .clock, to: record, in: transaction)
        }
    }

    /// Checks the time again under the lock. A timer that fires too early is set anew and does not count as failed.
    /// Otherwise a clock that was set back would turn it into a dead letter.
    @Loop private func fire(
        _ item: OutboxItem, _ event: CaseEvent, _ timer: String, due: (RecoveryCase) -> Timestamp?
    ) async throws {
        guard let id = Identifier(item.payload) else { return }
        try await database.transaction { transaction in
            guard let record = try await CaseStore.locked(id, in: transaction) else { return }
            if let due = due(record), record.now < due {
                return cases.setTimer(timer, of: record, at: due, in: transaction)
            }
            _ = try await cases.apply(event, by: .clock, to: record, in: transaction)
        }
    }
}
