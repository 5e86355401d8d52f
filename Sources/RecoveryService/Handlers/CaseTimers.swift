import BusProtocol
import Database
import EventLoop

/// What the database's clock does to cases, by durable timers.
struct CaseTimers: Sendable {
    let database: Database
    let cases: CaseWorkflow

    /// The hold ran out.
    @Loop func endHold(_ item: OutboxItem) async throws {
        try await fire(item, .holdEnded, CaseWorkflow.holdTimer) { $0.holdUntil }
    }

    /// Nobody acted.
    @Loop func endWaiting(_ item: OutboxItem) async throws {
        try await fire(item, .neglected, CaseWorkflow.neglectTimer) { $0.expiresAt }
    }

    /// A decision upon nothing takes as long as others take.
    @Loop func decideDecoy(_ item: OutboxItem) async throws {
        guard let id = Identifier(item.payload) else { return }
        try await database.transaction { transaction in
            guard let record = try await CaseStore.locked(id, in: transaction), record.life.isDecidedByClock,
                let event = DecoyCourse.event(in: record.life.seen, by: .random(in: 0...UInt64.max))
            else { return }
            _ = try await cases.apply(event, by: .clock, to: record, in: transaction)
        }
    }

    /// Looked at again under the lock: a timer that came early does nothing. It is set anew and does not count as failed, or
    /// a clock that was put back would make a dead letter of it.
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
