import EventLoop

/// Rows of many requests that one statement writes: one trip, one execution and one commit for all that wait.
///
/// While statements are under way the next rows gather. A busy service writes many at once that way, and in an idle one
/// nobody waits for company.
@Loop public final class BatchWriter {
    private struct Entry {
        let row: [SQLValue]
        /// Nanoseconds of ``MonotonicClock``.
        let since = MonotonicClock.now()
        let continuation: UnsafeContinuation<Result<Row?, DatabaseError>, Never>
    }

    /// Statements under way: PostgreSQL has one to do while the answer to another is on its way.
    private static let mostAtOnce = 2
    private static let mostRows = 64

    private let database: Database
    private let statement: Statement
    private var waiting: [Entry] = []
    private var underWay = 0

    /// - Parameter statement: takes an array for each column of a row, and answers every row that it wrote with its `place`
    ///   among them, from 1. What it writes of a row must not depend on the others.
    public nonisolated init(_ database: Database, _ statement: Statement) {
        (self.database, self.statement) = (database, statement)
    }

    /// Writes a row.
    ///
    /// - Returns: what the statement answered it with, after the commit; `nil` where it was not written.
    /// - Throws: ``DatabaseError``, also where what became of the row is not known; a row that PostgreSQL refuses is the only
    ///   one to fail.
    public func write(_ row: [SQLValue]) async throws(DatabaseError) -> Row? {
        let result = await withUnsafeContinuation { continuation in
            waiting.append(Entry(row: row, continuation: continuation))
            if waiting.count == 1 { Loop.atEndOfTurn { [self] in begin() } }
        }
        return try result.get()
    }

    /// What waited for longer than for a connection is not written any more: its caller has gone, or will come again.
    private func refuseLate() {
        let limit = database.configuration.leaseTimeout.nanoseconds
        let late = waiting.prefix { $0.since + limit < MonotonicClock.now() }
        waiting.removeFirst(late.count)
        for entry in late { entry.continuation.resume(returning: .failure(.busy)) }
    }

    private func begin() {
        refuseLate()
        while underWay < Self.mostAtOnce, !waiting.isEmpty {
            let entries = Array(waiting.prefix(Self.mostRows))
            waiting.removeFirst(entries.count)
            underWay += 1
            Loop.spawn { [self] in await run(entries) }
        }
    }

    private func run(_ entries: [Entry]) async {
        await write(entries)
        underWay -= 1
        begin()
    }

    private func write(_ entries: [Entry]) async {
        switch await written(entries) {
        case .success(let rows):
            for (entry, row) in zip(entries, rows) { entry.continuation.resume(returning: .success(row)) }
        // Nothing of it was done. One of the rows is wrong, and the others must not suffer for it.
        case .failure(.statement) where entries.count > 1: for entry in entries { await write([entry]) }
        case .failure(let error): for entry in entries { entry.continuation.resume(returning: .failure(error)) }
        }
    }

    private func written(_ entries: [Entry]) async -> Result<[Row?], DatabaseError> {
        let columns = entries[0].row.indices.map { column in SQLValue.array(entries.map { $0.row[column] }) }
        do throws(DatabaseError) {
            var rows = [Row?](repeating: nil, count: entries.count)
            for row in try await database.write(statement, columns) { rows[Int(try row.integer("place")) - 1] = row }
            return .success(rows)
        } catch {
            return .failure(error)
        }
    }
}
