import Database
import EventLoop

/// Ends sessions that are too old, and deletes rows that are no longer needed.
@Loop enum Housekeeping {
    /// The most times that a pass repeats a statement. The next pass deletes what is left.
    private static let rounds = 100

    /// Runs one pass.
    static func run(_ database: Database, audit: AuditTrail) async throws {
        try await exhaust { try await endOverdueSessions(in: database, audit: audit) }
        for statement in HousekeepingStore.statements {
            try await exhaust { try await HousekeepingStore.run(statement, in: database) }
        }
    }

    private static func exhaust(_ step: @Loop () async throws -> Int) async throws {
        for _ in 0..<rounds { guard try await step() == HousekeepingStore.batch else { return } }
    }

    /// Ends a batch of sessions that are too old, each in its own transaction.
    ///
    /// - Returns: how many.
    private static func endOverdueSessions(in database: Database, audit: AuditTrail) async throws -> Int {
        let sessions = try await SessionStore.overdue(in: database)
        for session in sessions {
            try await database.transaction { transaction in
                let chain = try await audit.chain(of: session.person, in: transaction)
                SessionStore.revoke(session.id, .age, chain: chain, in: transaction)
            }
        }
        return sessions.count
    }
}
