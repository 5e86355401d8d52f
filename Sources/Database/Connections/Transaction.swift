import EventLoop

/// A transaction on a leased connection. Valid inside of the closure that it was given to.
@Loop public final class Transaction {
    private let connection: Connection
    private var hasBegun = false
    /// The last advisory lock that was taken; in debug builds only.
    private var lastLock: AdvisoryLock?
    private var firstFailure: DatabaseError?
    /// What became of a commit that left with the last statement.
    private var committed: Result<[Row], DatabaseError>?
    /// Each is called when the commit held.
    var onCommit: [@Loop () -> Void] = []

    init(_ connection: Connection) { self.connection = connection }

    /// Sends a statement and waits for its rows.
    ///
    /// - Throws: ``DatabaseError``, also that of an earlier statement that was sent without waiting.
    public func query(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
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

    /// Sends two statements and waits for the rows of both, in one round trip. The second sees what was committed while the
    /// first waited for a lock.
    ///
    /// - Throws: as ``query(_:_:)``.
    public func query(
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

    /// Sends the last statement of the transaction and the commit behind it, and waits for both: one round trip instead of
    /// two. Whether the commit held the caller of the transaction hears, as ever.
    ///
    /// - Throws: as ``query(_:_:)``.
    public func queryLast(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
        begin()
        if let firstFailure { throw firstFailure }
        var rows: Result<[Row], DatabaseError> = .failure(.unavailable)
        pass(statement, values) { rows = $0 }
        let committed = await end(with: "COMMIT")
        self.committed = committed
        if let firstFailure, firstFailure != .unavailable { throw firstFailure }
        // All of it may have been done before the answer was lost.
        if case .failure(.unavailable) = committed { throw .commitUnknown }
        do {
            return try rows.get()
        } catch {
            firstFailure = error
            throw error
        }
    }

    /// Sends a statement without waiting: it leaves with the next that waits, or with the commit, which then fails where
    /// this one does.
    public func send(_ statement: Statement, _ values: [SQLValue] = []) {
        begin()
        pass(statement, values) { [weak self] result in self?.note(result) }
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
        // What was sent without waiting may have failed by itself, and the commit with it; where only its answer was lost,
        // so was that to the commit.
        if let firstFailure, firstFailure != .unavailable { throw firstFailure }
        switch committed {
        case .success: return
        case .failure(.unavailable): throw .commitUnknown
        case .failure(let error): throw error
        }
    }

    /// A connection that cannot even roll back is closed by its pool.
    func rollBack() async {
        guard hasBegun, connection.isOpen, !connection.isIdle else { return }
        _ = await end(with: "ROLLBACK")
    }

    private func end(with statement: Statement) async -> Result<[Row], DatabaseError> {
        await withUnsafeContinuation { continuation in
            var result: Result<[Row], DatabaseError> = .failure(.unavailable)
            connection.send(statement, []) { result = $0 }
            connection.sync { _ in continuation.resume(returning: result) }
        }
    }
}
