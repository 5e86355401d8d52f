import CPostgres
import EventLoop
import Values

/// The only owner of one connection, in pipeline mode: statements are sent without waiting, and the answers return in
/// order.
@Loop final class Connection: TurnEnding {
    typealias Completion = @Loop (Result<[Row], DatabaseError>) -> Void

    private enum Expected {
        case prepared(name: String)
        /// The name of a prepared statement.
        case rows(String, Completion)
        case sync(@Loop (Bool) -> Void)
    }

    private struct PreparedKey: Hashable {
        let statement: Statement
        let types: [UInt32]
    }

    private var raw: OpaquePointer?
    private var watch: FileWatch?
    private var expected: [Expected] = []
    private var expectedHead = 0
    private var current: Result<[Row], DatabaseError>?
    /// The reason why the next statement to be answered could not be prepared.
    private var preparationFailure: DatabaseError?
    private var prepared: [PreparedKey: String] = [:]
    /// The columns of each prepared statement that was answered. They never change.
    private var columns: [String: ColumnNames] = [:]
    private var lastName = 0
    /// The start of the server's silence while an answer is pending, in nanoseconds; `nil` if no answer is pending.
    private var silentSince: UInt64?
    /// When its last transaction ended, in nanoseconds.
    var freeSince: UInt64 = 0
    /// Whether the end of this turn flushes, and whether it sends a sync before that.
    private var (flushIsDue, syncIsDue) = (false, false)
    /// Called with each statement that failed.
    var onFailure: (@Loop (DatabaseError) -> Void)?
    private let notices = ServerNotices()
    /// Called once with the reason when the connection is no longer usable.
    var onClose: (@Loop (String) -> Void)?

    /// - Parameter address: the address of a connected `PGconn`. This object becomes its owner.
    init(address: UInt) {
        raw = OpaquePointer(bitPattern: address)
        PQsetnonblocking(raw, 1)
        PQenterPipelineMode(raw)
        notices.listen(to: raw)
        watch = FileWatch(PQsocket(raw), for: .read) { [unowned self] in ready($0) }
    }

    isolated deinit { close() }

    var isOpen: Bool { raw != nil }
    /// Whether no transaction is open and no answer is pending.
    var isIdle: Bool { expectedHead == expected.count && PQtransactionStatus(raw) == PQTRANS_IDLE }

    /// Whether an answer has been pending for this long without a byte from the server.
    func isSilent(for limit: Duration) -> Bool {
        silentSince.map { MonotonicClock.now() > $0 + limit.nanoseconds } ?? false
    }

    // MARK: Sending

    /// Queues a statement. It is sent with the next flush.
    func send(_ statement: Statement, _ values: [SQLValue], _ completion: @escaping Completion) {
        guard raw != nil else { return completion(.failure(.unavailable)) }
        let key = PreparedKey(statement: statement, types: values.map(\.type))
        let name: String
        if let known = prepared[key] {
            name = known
        } else {
            lastName += 1
            name = "s\(lastName)"
            guard PQsendPrepare(raw, name, statement.sql, Int32(values.count), key.types) == 1 else {
                return refuse(completion)
            }
            prepared[key] = name
            expected.append(.prepared(name: name))
        }
        guard execute(name, values) else { return refuse(completion) }
        expected.append(.rows(name, completion))
        flushSoon()
    }

    private func refuse(_ completion: Completion) {
        completion(.failure(.unavailable))
        close()
    }

    private func execute(_ name: String, _ values: [SQLValue]) -> Bool {
        // One buffer holds all values. The pointers into it are valid during the call.
        var buffer: [UInt8] = []
        for value in values { buffer += value.bytes ?? [] }
        buffer.append(0)
        return buffer.withUnsafeBytes { bytes in
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var (pointers, offset) = ([UnsafePointer<CChar>?](), 0)
            for value in values {
                pointers.append(value.bytes == nil ? nil : base.map { $0 + offset })
                offset += value.bytes?.count ?? 0
            }
            let lengths = values.map { Int32($0.bytes?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: values.count)
            return PQsendQueryPrepared(raw, name, Int32(values.count), pointers, lengths, formats, 1) == 1
        }
    }

    /// Sends a sync after the queued statements. Outside an explicit transaction it commits them.
    ///
    /// - Parameter completion: called with true if the server reached the sync and made its commits as durable as
    ///   configured.
    func sync(_ completion: @escaping @Loop (Bool) -> Void = { _ in }) {
        // This function also sends. If sending fails, libpq drops the socket, and no event would ever come from it
        // again.
        guard raw != nil, PQpipelineSync(raw) == 1 else {
            close()
            return completion(false)
        }
        expected.append(.sync(completion))
        if silentSince == nil { silentSince = MonotonicClock.now() }
        flushSoon()
    }

    /// One sync at the end of the turn, for all statements that were queued in it.
    func syncSoon() {
        syncIsDue = true
        flushSoon()
    }

    private func flushSoon() {
        guard !flushIsDue else { return }
        flushIsDue = true
        Loop.atEndOfTurn(self)
    }

    func endTurn() {
        if syncIsDue {
            syncIsDue = false
            sync()
        }
        flushIsDue = false
        flush()
    }

    private func flush() {
        guard raw != nil else { return }
        switch PQflush(raw) {
        case 0: watch?.update(.read)
        case 1: watch?.update([.read, .write])
        default: close()
        }
    }

    // MARK: Receiving

    private func ready(_ interest: FileInterest) {
        if interest.contains(.read) {
            guard PQconsumeInput(raw) == 1 else { return close() }
            receive()
            // libpq sets this status if it could not understand the answers.
            guard PQstatus(raw) != CONNECTION_BAD else { return close() }
            silentSince = expected.isEmpty ? nil : MonotonicClock.now()
        }
        if interest.contains(.write) { flush() }
    }

    private func receive() {
        while raw != nil, expectedHead < expected.count, PQisBusy(raw) == 0 {
            guard let pointer = PQgetResult(raw) else {
                // libpq ends the results of each command with `nil`. Without a result before it, this is not such an
                // end.
                guard let result = current else { return }
                current = nil
                complete(result)
                continue
            }
            let result = QueryResult(owning: pointer, columns: knownColumns)
            if result.status == PGRES_PIPELINE_SYNC {
                let entry = next()
                guard case .sync(let completion) = entry else {
                    fail(entry)
                    return close()
                }
                completion(notices.areCommitsConfirmed())
            } else {
                let failure = result.failure
                if failure != nil { notices.hear(pointer) }
                current = failure.map { .failure($0) } ?? .success(rows(of: result))
            }
        }
    }

    private var knownColumns: ColumnNames? {
        guard case .rows(let name, _) = expected[expectedHead] else { return nil }
        return columns[name]
    }

    private func rows(of result: QueryResult) -> [Row] {
        let rows = result.rows
        if case .rows(let name, _) = expected[expectedHead], !rows.isEmpty, columns[name] == nil {
            columns[name] = result.columns
        }
        return rows
    }

    private func next() -> Expected {
        let first = expected[expectedHead]
        expectedHead += 1
        if expectedHead == expected.count {
            expected.removeAll(keepingCapacity: true)
            expectedHead = 0
        }
        return first
    }

    private func complete(_ result: Result<[Row], DatabaseError>) {
        let entry = next()
        switch entry {
        case .prepared(let name):
            // A statement that was not prepared is prepared again at its next use.
            guard case .failure(let failure) = result else { return }
            preparationFailure = place(failure, of: name)
            prepared = prepared.filter { $0.value != name }
        case .rows(let name, let completion):
            let cause = preparationFailure
            preparationFailure = nil
            // If the server refused to prepare a statement, it answers "aborted" to the statement itself. The answer
            // before that has the reason.
            guard case .failure(let failure) = result else { return completion(result) }
            if failure.isUnprepared { prepared = prepared.filter { $0.value != name } }
            let told =
                failure == .aborted ? cause ?? failure : failure.isUnprepared ? .aborted : place(failure, of: name)
            onFailure?(told)
            completion(.failure(told))
        case .sync:
            // The server's reason for closing came instead of the answer to the sync.
            fail(entry)
            close()
        }
    }

    /// A failure, with the tables of the prepared statement.
    private func place(_ failure: DatabaseError, of name: String) -> DatabaseError {
        guard case .statement(let sqlState, let constraint, nil) = failure else { return failure }
        let tables = prepared.first { $0.value == name }?.key.statement.tables ?? []
        return .statement(
            sqlState: sqlState, constraint: constraint, tables: tables.isEmpty ? nil : tables.joined(separator: ", "))
    }

    private func fail(_ entry: Expected) {
        switch entry {
        case .prepared: break
        case .rows(_, let completion): completion(.failure(.unavailable))
        case .sync(let completion): completion(false)
        }
    }

    // MARK: End

    /// Closes the connection. Pending answers fail as unavailable. A second call does nothing.
    ///
    /// - Parameter reason: the reason for closing; by default that of the server or of libpq.
    func close(_ reason: String? = nil) {
        guard let raw else { return }
        // Unread input may contain the server's reason.
        _ = PQisBusy(raw)
        let told = reason ?? notices.farewell ?? ConnectionFailure.reason(String(cString: PQerrorMessage(raw)))
        self.raw = nil
        watch?.cancel()
        PQfinish(raw)
        let lost = expected[expectedHead...]
        expected = []
        expectedHead = 0
        for entry in lost { fail(entry) }
        onClose?(told)
        onClose = nil
    }
}
