import BusProtocol
import Database
import EventLoop

/// The hold ran out: a durable timer by the database's clock says so.
struct HoldTimer: Sendable {
    let store: CaseStore

    @Loop func fire(_ item: OutboxItem) async throws {
        guard let id = Identifier(item.payload) else { return }
        try await store.house.database.transaction { transaction in
            guard let record = try await store.locked(id, in: transaction) else { return }
            // Looked at again under the lock: a timer that came early releases nothing. It is set anew and does not count
            // as failed, or a clock that was put back would make a dead letter of the hold's end.
            guard record.now >= record.holdUntil else { return store.setTimer(of: record, in: transaction) }
            if case .becomes(let status) = CaseStateMachine.outcome(of: .holdEnded, in: record.status) {
                try await store.move(record, to: status, because: "hold_ended", in: transaction)
            }
        }
    }
}
