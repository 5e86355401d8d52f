import CPostgres
import EventLoop
import Values

/// The connections of one service to its tables.
///
/// It connects by itself and reconnects. It opens only the connections that it needs: one for reads, those in use, and
/// one spare.
@Loop package final class Database {
    private struct Waiter {
        let id: Int
        let continuation: UnsafeContinuation<Connection?, Never>
        let timer: LoopTimer
    }

    /// Where the tables are, and how to reach them.
    package let configuration: DatabaseConfiguration
    /// All open connections, in use or not.
    private var connections: [Connection] = []
    private var reader: Connection?
    private var idle: [Connection] = []
    private var waiters: [Waiter] = []
    private var lastWaiter = 0
    /// Called when a wait for a lock or a connection, or a statement, took too long. It is called at most once a second
    /// for each kind.
    package var onTimeout: (@Loop (DatabaseError) -> Void)?
    /// When ``onTimeout`` was last called for each kind, in nanoseconds. There are at most as many kinds as tables.
    private var toldTimeouts: [String: UInt64] = [:]
    private var isClosed = false
    private var tasks: [Task<Void, any Error>] = []
    /// Whether a connection was lost or an attempt failed since the last pause.
    private var hasLost = false
    /// Completed when another connection is needed.
    private var vacancy: LoopPromise<Void>?
    private var lastChange: Change?
    /// Called once for each change, on the loop.
    package var onChange: (@Loop (Change) -> Void)?

    /// Whether the server can be reached.
    ///
    /// A reason is a SQLSTATE, or a message of the system, libpq or the server about a connection. The reason contains
    /// no connection string.
    package enum Change: Sendable, Equatable {
        /// Reads and transactions fail.
        case lost(reason: String)
        /// The server accepts no more connections than are open.
        case refused(reason: String)
        /// The server can be reached again.
        case back
    }

    /// Takes the configuration. It does not connect yet.
    package init(_ configuration: DatabaseConfiguration) { self.configuration = configuration }

    /// Whether the connection for reads is open. It shows an outage almost at once.
    package var isAvailable: Bool { reader != nil }

    /// How many connections are in use now.
    package struct PoolState: Sendable, Equatable {
        /// The open connections, including the one for reads.
        package let connections: Int
        /// The open connections that are free for a transaction.
        package let idle: Int
        /// The transactions that wait for a connection.
        package let waiting: Int
    }

    /// How many connections are in use now.
    package var pool: PoolState {
        PoolState(connections: connections.count, idle: idle.count, waiting: waiters.count)
    }

    /// Starts to connect and returns at once.
    package func start() {
        tasks.append(Loop.spawn { [self] in await keepConnections() })
        tasks.append(Loop.spawn { [self] in await closeSilent() })
    }

    /// Waits until the database answers.
    package func waitUntilAvailable() async throws {
        while !isAvailable {
            try Task.checkCancellation()
            try await Loop.sleep(for: .milliseconds(10))
        }
    }

    /// Closes every connection. Running requests fail as unavailable.
    package func close() {
        isClosed = true
        for task in tasks { task.cancel() }
        vacancy?.resolve(.success(()))
        reader?.close()
        for connection in idle { connection.close() }
        idle = []
        let waiting = waiters
        waiters = []
        for waiter in waiting { finish(waiter, with: nil) }
    }

    // MARK: Requests

    /// Runs a statement that changes nothing.
    ///
    /// All reads of one turn share a round trip. If a read failed because of another one, the pool repeats it alone.
    package func read(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
        guard let connection = reader else { throw .unavailable }
        let shared = await withUnsafeContinuation { continuation in
            sendRead(statement, values) { continuation.resume(returning: $0) }
        }
        guard case .failure(.aborted) = shared, reader === connection else { return try shared.get() }
        let alone = await withUnsafeContinuation { continuation in
            connection.sync()
            connection.send(statement, values) { continuation.resume(returning: $0) }
            connection.sync()
        }
        return try alone.get()
    }

    /// Sends a statement that changes nothing, with the other reads of this turn. A statement that PostgreSQL refuses
    /// aborts the statements after it.
    func sendRead(_ statement: Statement, _ values: [SQLValue], _ completion: @escaping Connection.Completion) {
        guard let connection = reader else { return completion(.failure(.unavailable)) }
        connection.send(statement, values, completion)
        connection.syncSoon()
    }

    /// Runs one statement as its own transaction, in one round trip.
    package func write(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
        let connection = try await lease()
        let result = await withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<[Row], DatabaseError>, Never>) in
            var rows: Result<[Row], DatabaseError> = .failure(.unavailable)
            connection.send(statement, values) { rows = $0 }
            connection.sync { reached in
                // The statement and the sync were sent together. Without an answer to both, nobody knows whether the
                // commit happened.
                switch rows {
                case .success where !reached, .failure(.unavailable) where !reached: rows = .failure(.commitUnknown)
                default: break
                }
                continuation.resume(returning: rows)
            }
        }
        release(connection)
        return try result.get()
    }

    /// Runs `body` in one transaction on its own connection. An error that it throws rolls back.
    ///
    /// `BEGIN` is sent with the first statement, and `COMMIT` with the last statement that was sent without waiting.
    package func transaction<Value>(_ body: @Loop (Transaction) async throws -> Value) async throws -> Value {
        let connection = try await lease()
        let transaction = Transaction(connection)
        do {
            let value = try await body(transaction)
            try await transaction.commit()
            release(connection)
            transaction.onCommit.forEach { $0() }
            return value
        } catch {
            await transaction.rollBack()
            release(connection)
            throw error
        }
    }

    // MARK: Pool

    private func lease() async throws(DatabaseError) -> Connection {
        if let connection = takeIdle() { return connection }
        guard reader != nil, !isClosed else { throw .unavailable }
        lastWaiter += 1
        let id = lastWaiter
        let connection = await withUnsafeContinuation { (continuation: UnsafeContinuation<Connection?, Never>) in
            // A task from outside the loop is queued once more on its way here. A connection may be free by now.
            if let connection = takeIdle() { return continuation.resume(returning: connection) }
            let timer = LoopTimer(after: configuration.leaseTimeout) { [weak self] in self?.expire(id) }
            waiters.append(Waiter(id: id, continuation: continuation, timer: timer))
        }
        guard let connection else {
            let failure: DatabaseError = isAvailable ? .busy : .unavailable
            note(failure)
            throw failure
        }
        return connection
    }

    private func takeIdle() -> Connection? {
        while let connection = idle.popLast() {
            if idle.isEmpty { vacancy?.resolve(.success(())) }
            if connection.isOpen { return connection }
        }
        return nil
    }

    private func note(_ failure: DatabaseError) {
        guard failure.isTimeout else { return }
        let (kind, now) = ("\(failure)", MonotonicClock.now())
        if let last = toldTimeouts[kind], now < last + Duration.seconds(1).nanoseconds { return }
        toldTimeouts[kind] = now
        onTimeout?(failure)
    }

    private func expire(_ id: Int) {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
        finish(waiters.remove(at: index), with: nil)
    }

    private func finish(_ waiter: Waiter, with connection: Connection?) {
        waiter.timer.cancel()
        waiter.continuation.resume(returning: connection)
    }

    private func release(_ connection: Connection) {
        guard connection.isOpen else { return }
        guard connection.isIdle, !isClosed else { return connection.close("a transaction did not end") }
        guard waiters.isEmpty else { return finish(waiters.removeFirst(), with: connection) }
        connection.freeSince = MonotonicClock.now()
        idle.append(connection)
    }

    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(5)

    /// Whether a connection is needed: the one for reads, or a spare.
    private var isShort: Bool { reader == nil || idle.isEmpty && connections.count < configuration.poolSize }

    /// Opens the missing connections, one attempt after another.
    ///
    /// If the server is down or refuses, there is one attempt per pause. The pause grows until no connection is
    /// missing.
    private func keepConnections() async {
        var pause = Self.shortestPause
        while !isClosed, !Task.isCancelled {
            if hasLost {
                hasLost = false
                try? await Loop.sleep(for: pause)
                pause = min(pause * 2, Self.longestPause)
            } else if isShort {
                await connect()
            } else {
                pause = Self.shortestPause
                if case .refused = lastChange { report(.back) }
                let vacancy = LoopPromise<Void>()
                self.vacancy = vacancy
                try? await vacancy.get()
            }
        }
    }

    private func admit(_ connection: Connection) {
        let id = ObjectIdentifier(connection)
        connection.onClose = { [weak self] reason in self?.lose(id, reason) }
        connection.onFailure = { [weak self] in self?.note($0) }
        connections.append(connection)
        guard reader == nil else { return release(connection) }
        reader = connection
        if lastChange != nil { report(.back) }
    }

    private func lose(_ id: ObjectIdentifier, _ reason: String) {
        connections.removeAll { ObjectIdentifier($0) == id }
        idle.removeAll { ObjectIdentifier($0) == id }
        if let reader, ObjectIdentifier(reader) == id {
            self.reader = nil
            report(.lost(reason: reason))
        }
        hasLost = true
        vacancy?.resolve(.success(()))
    }

    private func report(_ change: Change) {
        guard !isClosed, change != lastChange else { return }
        lastChange = change
        onChange?(change)
    }

    /// Checks the connections three times a second.
    ///
    /// An unreachable server closes no connection, and the kernel would wait for a quarter of an hour.
    private func closeSilent() async {
        var lastLook = MonotonicClock.now()
        while !isClosed, !Task.isCancelled {
            try? await Loop.sleep(about: .milliseconds(300))
            let pause = MonotonicClock.now() - lastLook
            lastLook += pause
            // A pause of this process is no silence of the server: its answers may be waiting unread.
            guard pause < Duration.seconds(1).nanoseconds else { continue }
            let silent = connections.filter { $0.isSilent(for: configuration.silenceLimit) }
            // Idle connections go to the same server. Otherwise each would fail one request before it was found.
            for connection in silent.isEmpty ? [] : silent + idle { connection.close("the server does not answer") }
            shrink()
        }
    }

    /// Closes connections that were idle for a while, except the spare one. The least used are closed first.
    private func shrink() {
        while idle.count > 1, let first = idle.first,
            MonotonicClock.now() > first.freeSince + configuration.idleLimit.nanoseconds
        {
            idle.removeFirst()
            connections.removeAll { $0 === first }
            // The pool closes it on purpose, so it must not count as lost.
            first.onClose = nil
            first.close()
        }
    }

    private func connect() async {
        let configuration = configuration
        guard
            let address = try? await Loop.offload({
                DatabaseConfiguration.connect(
                    configuration.connectionString, standbys: configuration.standbys, schema: configuration.schema,
                    applicationName: configuration.applicationName)
            })
        else { return hasLost = true }
        let raw = OpaquePointer(bitPattern: address)
        guard !isClosed, PQstatus(raw) == CONNECTION_OK else {
            let reason = ConnectionFailure.reason(String(cString: PQerrorMessage(raw)))
            PQfinish(raw)
            hasLost = true
            return report(reader == nil ? .lost(reason: reason) : .refused(reason: reason))
        }
        admit(Connection(address: address))
    }
}
