import EventLoop

/// Batches the rows of many requests: one statement writes all waiting rows in one round trip, one execution and one
/// commit.
///
/// While statements run, the next rows gather. A busy service writes many rows at once that way. In an idle service no
/// request waits for others.
@Loop package final class BatchWriter: TurnEnding {
    private struct Entry {
        let row: [SQLValue]
        /// In nanoseconds of ``MonotonicClock``.
        let since = MonotonicClock.now()
        let continuation: UnsafeContinuation<Result<Row?, DatabaseError>, Never>
    }

    /// The most running statements. PostgreSQL executes one statement while the answer to another is on its way.
    private static let mostAtOnce = 2
    private static let mostRows = 64

    private let database: Database
    private let statement: Statement
    private var waiting: [Entry] = []
    private var underWay = 0

    /// - Parameter statement: takes an array for each column of a row. It returns each row that it wrote with its
    ///   `place` among them, from 1. It must write each row independently of the others.
    package nonisolated init(_ database: Database, _ statement: Statement) {
        (self.database, self.statement) = (database, statement)
    }

    /// Writes a row.
    ///
    /// - Returns: the row that the statement returned for it, after the commit; `nil` if the row was not written.
    /// - Throws: ``DatabaseError``, also if nobody knows whether the row was written. If PostgreSQL refuses a row, only
    ///   that row fails.
    package func write(_ row: [SQLValue]) async throws(DatabaseError) -> Row? {
        let result = await withUnsafeContinuation { continuation in
            waiting.append(Entry(row: row, continuation: continuation))
            if waiting.count == 1 { Loop.atEndOfTurn(self) }
        }
        return try result.get()
    }

    /// A row that waited longer than the limit for a connection is not written. Its caller is gone or will repeat the
    /// request.
    private func refuseLate() {
        let limit = database.configuration.leaseTimeout.nanoseconds
        let late = waiting.prefix { $0.since + limit < MonotonicClock.now() }
        waiting.removeFirst(late.count)
        for entry in late { entry.continuation.resume(returning: .failure(.busy)) }
    }

    package func endTurn() { begin() }

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
        // Nothing was written. One of the rows is wrong, and the others must not fail because of it.
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
