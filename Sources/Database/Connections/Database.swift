import CPostgres
import EventLoop
import Values

/// The connections of one service to its tables. It connects by itself, again and again, and opens no more than it needs: one
/// for reads, those that are in use, and one to spare.
@Loop public final class Database {
    private struct Waiter {
        let id: Int
        let continuation: UnsafeContinuation<Connection?, Never>
        let timer: LoopTimer
    }

    public let configuration: DatabaseConfiguration
    /// All that are connected, in use or not.
    private var standing: [Connection] = []
    private var reader: Connection?
    private var idle: [Connection] = []
    private var waiters: [Waiter] = []
    private var lastWaiter = 0
    /// Told of what took too long: a wait for a lock or for a connection, or a statement. Of each kind once a second.
    public var onTimeout: (@Loop (DatabaseError) -> Void)?
    /// When each kind was told last, nanoseconds; there are as many as tables.
    private var toldTimeouts: [String: UInt64] = [:]
    private var isClosed = false
    private var tasks: [Task<Void, any Error>] = []
    /// Whether a connection or an attempt was lost since the last pause.
    private var hasLost = false
    /// Resolved when a connection is missing again.
    private var vacancy: LoopPromise<Void>?
    private var lastChange: Change?
    /// Told once of each change, on the loop.
    public var onChange: (@Loop (Change) -> Void)?

    /// How the server is to be reached now. A reason is a SQLSTATE, or what the system, libpq or the server says of a
    /// connection; there is no connection string in it.
    public enum Change: Sendable, Equatable {
        /// Reads and transactions fail.
        case lost(reason: String)
        /// The server takes no more connections than stand.
        case refused(reason: String)
        /// All is well again.
        case back
    }

    public init(_ configuration: DatabaseConfiguration) { self.configuration = configuration }

    /// Whether the reading connection stands; it says so within moments of an outage.
    public var isAvailable: Bool { reader != nil }

    /// How the connections are used right now.
    public struct PoolState: Sendable, Equatable {
        /// That stand, the reading one included.
        public let connections: Int
        /// Of these, those that a transaction may have at once.
        public let idle: Int
        /// Transactions that wait for one.
        public let waiting: Int
    }

    public var pool: PoolState {
        PoolState(connections: standing.count, idle: idle.count, waiting: waiters.count)
    }

    /// Begins to connect and returns at once.
    public func start() {
        tasks.append(Loop.spawn { [self] in await keepStanding() })
        tasks.append(Loop.spawn { [self] in await closeSilent() })
    }

    /// Waits until the database answers.
    public func waitUntilAvailable() async throws {
        while !isAvailable {
            try Task.checkCancellation()
            try await Loop.sleep(for: .milliseconds(10))
        }
    }

    /// Closes every connection; what is under way fails as unavailable.
    public func close() {
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

    /// A statement that changes nothing. The reads of one turn share a round trip; one that a neighbour's failure took
    /// down with it is repeated alone.
    public func read(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
        guard let connection = reader else { throw .unavailable }
        let shared = await withUnsafeContinuation { continuation in
            connection.send(statement, values) { continuation.resume(returning: $0) }
            connection.syncSoon()
        }
        guard case .failure(.aborted) = shared, reader === connection else { return try shared.get() }
        let alone = await withUnsafeContinuation { continuation in
            connection.sync()
            connection.send(statement, values) { continuation.resume(returning: $0) }
            connection.sync()
        }
        return try alone.get()
    }

    /// One statement that is a transaction by itself, in one round trip.
    public func write(_ statement: Statement, _ values: [SQLValue] = []) async throws(DatabaseError) -> [Row] {
        let connection = try await lease()
        let result = await withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<[Row], DatabaseError>, Never>) in
            var rows: Result<[Row], DatabaseError> = .failure(.unavailable)
            connection.send(statement, values) { rows = $0 }
            connection.sync { reached in
                // Statement and sync left together: without an answer to both, the commit may have happened or not.
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

    /// Runs `body` in one transaction on a connection of its own; whatever it throws rolls back.
    ///
    /// `BEGIN` leaves with the first statement, `COMMIT` with the last that was sent without waiting.
    public func transaction<Value>(_ body: @Loop (Transaction) async throws -> Value) async throws -> Value {
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
        while let connection = idle.popLast() {
            if idle.isEmpty { vacancy?.resolve(.success(())) }
            if connection.isOpen { return connection }
        }
        guard reader != nil, !isClosed else { throw .unavailable }
        lastWaiter += 1
        let id = lastWaiter
        let connection = await withUnsafeContinuation { continuation in
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

    /// Whether a connection is missing: the reading one, or one to spare.
    private var isShort: Bool { reader == nil || idle.isEmpty && standing.count < configuration.poolSize }

    /// Opens what is missing. One attempt follows another: a server that is away or refuses hears of this replica once in a
    /// pause, which grows until nothing is missing.
    private func keepStanding() async {
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
        standing.append(connection)
        guard reader == nil else { return release(connection) }
        reader = connection
        if lastChange != nil { report(.back) }
    }

    private func lose(_ id: ObjectIdentifier, _ reason: String) {
        standing.removeAll { ObjectIdentifier($0) == id }
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

    /// Looks at the connections four times a second. A server that cannot be reached any more closes nothing, and the kernel
    /// would wait for it for a quarter of an hour.
    private func closeSilent() async {
        var lastLook = MonotonicClock.now()
        while !isClosed, !Task.isCancelled {
            try? await Loop.sleep(for: .milliseconds(250))
            let pause = MonotonicClock.now() - lastLook
            lastLook += pause
            // A pause of our own is not the server's silence: what it sent may lie there unread.
            guard pause < Duration.seconds(1).nanoseconds else { continue }
            let silent = standing.filter { $0.isSilent(for: configuration.silenceLimit) }
            // Those that are not in use are to the same server: they would be found silent one call at a time.
            for connection in silent.isEmpty ? [] : silent + idle { connection.close("the server does not answer") }
            shrink()
        }
    }

    /// Closes what was not in use for a while, but the one to spare: the least used are the first.
    private func shrink() {
        while idle.count > 1, let first = idle.first,
            MonotonicClock.now() > first.freeSince + configuration.idleLimit.nanoseconds
        {
            idle.removeFirst()
            standing.removeAll { $0 === first }
            // Nothing was lost.
            first.onClose = nil
            first.close()
        }
    }

    private func connect() async {
        let (text, schema, name) = (
            configuration.connectionString, configuration.schema, configuration.applicationName
        )
        guard
            let address = try? await Loop.offload({
                DatabaseConfiguration.connect(text, schema: schema, applicationName: name)
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
