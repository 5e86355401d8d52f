import EventLoop

/// A transaction on a leased connection. It is valid only inside the closure that receives it.
@Loop package final class Transaction {
    private let connection: Connection
    private var hasBegun = false
    /// The last advisory lock that was taken. Only debug builds set it.
    private var lastLock: AdvisoryLock?
    private var firstFailure: DatabaseError?
    /// The result of a commit that was sent with the last statement.
    private var committed: Result<[Row], DatabaseError>?
    /// Called after the commit succeeded.
    private(set) var onCommit: [@Loop () -> Void] = []

    init(_ connection: Connection) { self.connection = connection }

    /// Calls `action` once the commit has succeeded.
    package func afterCommit(_ action: @escaping @Loop () -> Void) { onCommit.append(action) }

    /// Sends a statement and waits for its rows.
    ///
    /// - Throws: ``DatabaseError``, including that of an earlier statement that was sent without waiting.
    package func query(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
        begin()
        let result = await withUnsafeContinuation { continuation in
            pass(statement, values) { continuation.resume(returning: $0) }
            connection.sync()
        }
        if let firstFailure { throw firstFailure }
        do {
            return try result.get()
        } catch {
            firstFailure = error
            throw error
        }
    }

    /// Sends two statements and waits for the rows of both, in one round trip. The second statement sees the commits
    /// that happened while the first one waited for a lock.
    ///
    /// - Throws: as ``query(_:_:)``.
    package func query(
        _ first: Statement, _ firstValues: [SQLValue], then second: Statement, _ secondValues: [SQLValue]
    ) async throws(DatabaseError) -> (first: [Row], second: [Row]) {
        begin()
        var rows: [Row] = []
        pass(first, firstValues) { [weak self] result in
            self?.note(result)
            if case .success(let found) = result { rows = found }
        }
        let answered = try await query(second, secondValues)
        return (rows, answered)
    }

    /// Sends the last statement of the transaction together with the commit, and waits for both. This saves one round
    /// trip.
    ///
    /// As always, the caller of the transaction gets the result of the commit.
    ///
    /// - Throws: as ``query(_:_:)``.
    package func queryLast(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
        begin()
        if let firstFailure { throw firstFailure }
        var rows: Result<[Row], DatabaseError> = .failure(.unavailable)
        pass(statement, values) { rows = $0 }
        let committed = await end(with: "COMMIT")
        self.committed = committed
        if let firstFailure, firstFailure != .unavailable { throw firstFailure }
        // The server may have done everything before the answer was lost.
        if case .failure(.unavailable) = committed { throw .commitUnknown }
        do {
            return try rows.get()
        } catch {
            firstFailure = error
            throw error
        }
    }

    /// Sends a statement without waiting. It goes with the next statement that waits, or with the commit. If this
    /// statement fails, so does the next one or the commit.
    ///
    /// - Parameter take: gets the rows. The transaction has not ended, and may still be rolled back. If it throws, the
    ///   statement counts as failed.
    package func send(
        _ statement: Statement, _ values: [SQLValue] = [], take: (@Loop ([Row]) throws(DatabaseError) -> Void)? = nil
    ) {
        begin()
        pass(statement, values) { [weak self] result in
            self?.note(result)
            guard let take, case .success(let rows) = result else { return }
            do throws(DatabaseError) { try take(rows) } catch { self?.note(.failure(error)) }
        }
    }

    private func pass(
        _ statement: Statement, _ values: [SQLValue], _ completion: @escaping Connection.Completion
    ) {
        assert(takesInOrder(statement), "a lock is taken before \(lastLock as Any), against the order of AdvisoryLock")
        connection.send(statement, values, completion)
    }

    private func takesInOrder(_ statement: Statement) -> Bool {
        AdvisoryLock.taken(by: statement).allSatisfy { lock in
            guard lastLock.map({ lock.mayFollow($0) }) ?? true else { return false }
            lastLock = lock
            return true
        }
    }

    private func begin() {
        precondition(committed == nil, "nothing follows the last statement of a transaction")
        guard !hasBegun else { return }
        hasBegun = true
        connection.send("BEGIN", []) { [weak self] result in self?.note(result) }
    }

    private func note(_ result: Result<[Row], DatabaseError>) {
        if case .failure(let error) = result, firstFailure == nil { firstFailure = error }
    }

    func commit() async throws(DatabaseError) {
        guard hasBegun else { return }
        if let firstFailure { throw firstFailure }
        let committed = if let committed { committed } else { await end(with: "COMMIT") }
        // A statement that was sent without waiting may have failed, and then the commit fails too. If only its answer
        // was lost, the answer to the commit was lost too.
        if let firstFailure, firstFailure != .unavailable { throw firstFailure }
        switch committed {
        case .success: return
        case .failure(.unavailable): throw .commitUnknown
        case .failure(let error): throw error
        }
    }

    /// If even the rollback fails, the pool closes the connection.
    func rollBack() async {
        guard hasBegun, connection.isOpen, !connection.isIdle else { return }
        _ = await end(with: "ROLLBACK")
    }

    private func end(with statement: Statement) async -> Result<[Row], DatabaseError> {
        await withUnsafeContinuation { continuation in
            var result: Result<[Row], DatabaseError> = .failure(.unavailable)
            connection.send(statement, []) { result = $0 }
            connection.sync { isConfirmed in
                continuation.resume(returning: isConfirmed ? result : .failure(.unavailable))
            }
        }
    }
}
