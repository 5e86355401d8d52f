import EventLoop
import Values

/// Batches the look-ups of many requests: one statement reads the rows of all look-ups in one turn of the loop.
///
/// A statement costs PostgreSQL more than a row. No request waits for others, since the reads of a turn are sent together
/// anyway.
@Loop package final class BatchReader: TurnEnding {
    private struct Entry {
        let key: Identifier
        let continuation: UnsafeContinuation<Result<Row?, DatabaseError>, Never>
    }

    private let database: Database
    private let column: String
    private let (one, many): (Statement, Statement)
    private var waiting: [Entry] = []

    /// - Parameters:
    ///   - select: a `SELECT` from one table, without conditions.
    ///   - column: the key, a unique UUID among its columns.
    package nonisolated init(_ database: Database, _ select: String, by column: String) {
        (self.database, self.column) = (database, column)
        one = Statement("\(select) WHERE \(column) = $1")
        many = Statement("\(select) WHERE \(column) = ANY ($1)")
    }

    /// The row of a key; `nil` if there is none.
    ///
    /// - Throws: ``DatabaseError``. If PostgreSQL refuses another read of the turn, this one does not fail.
    package func row(of key: Identifier) async throws(DatabaseError) -> Row? {
        let result = await withUnsafeContinuation { continuation in
            waiting.append(Entry(key: key, continuation: continuation))
            if waiting.count == 1 { Loop.atEndOfTurn(self) }
        }
        return try result.get()
    }

    package func endTurn() { send() }

    private func send() {
        // Most turns look for one row, which needs no list.
        if waiting.count == 1 {
            let entry = waiting.removeLast()
            return database.sendRead(one, [.uuid(entry.key)]) { [self] in
                if case .failure(.aborted) = $0 {
                    Loop.spawn { [self] in await readAlone(entry) }
                } else {
                    entry.continuation.resume(returning: $0.map(\.first))
                }
            }
        }
        var entries: [Entry] = []
        swap(&entries, &waiting)
        database.sendRead(many, [.uuidArray(entries.map(\.key))]) { [self, entries] in end(entries, $0) }
    }

    private func end(_ entries: [Entry], _ result: Result<[Row], DatabaseError>) {
        switch result {
        case .success(let rows):
            let keys = Result { () throws(DatabaseError) in
                try rows.map { row throws(DatabaseError) in try row.uuid(column) }
            }
            for entry in entries {
                entry.continuation.resume(
                    returning: keys.map { $0.firstIndex(of: entry.key).map { rows[$0] } })
            }
        case .failure(let error) where mayBeAnothers(error):
            for entry in entries { Loop.spawn { [self] in await readAlone(entry) } }
        case .failure(let error): for entry in entries { entry.continuation.resume(returning: .failure(error)) }
        }
    }

    /// Whether the error may belong to another read: PostgreSQL refused a read of the same turn, or one of these rows
    /// is unreadable. The other reads must not fail because of it.
    private func mayBeAnothers(_ error: DatabaseError) -> Bool {
        switch error {
        case .aborted: true
        case .statement: !error.isTimeout
        default: false
        }
    }

    private func readAlone(_ entry: Entry) async {
        do throws(DatabaseError) {
            let rows = try await database.read(one, [.uuid(entry.key)])
            entry.continuation.resume(returning: .success(rows.first))
        } catch {
            entry.continuation.resume(returning: .failure(error))
        }
    }
}
