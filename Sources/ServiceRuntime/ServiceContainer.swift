import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText

/// One running service: its bus, its database, its relay. Any number of them live in one process.
@Loop public final class ServiceContainer {
    public let definition: ServiceDefinition
    public let configuration: Configuration
    public let log: Log
    public let bus: Bus
    public let database: Database
    public let keys: KeyRing
    public let inbox: Inbox
    public let outbox: Outbox
    public let audit: AuditTrail
    private let anchorFile: AuditAnchorFile?
    private let metrics: MetricsListener?
    private var deliverers: [String: @Loop (OutboxItem) async throws -> Void] = [:]
    private var backgrounds: [(name: String, body: @Loop () async throws -> Void)] = []
    private var tasks: [Task<Void, any Error>] = []
    private var naps: [LoopPromise<Void>] = []
    private var apart: [String] = []
    private var relays: [OutboxRelay] = []
    /// Whether the database's clock went on evenly, as far as this replica's relays have seen: what is due by it is released.
    public var trustsClock: Bool { relays.allSatisfy(\.trustsClock) }
    /// Whether the service has what it must have read before its first request comes; asked until the service stops.
    public var isPrepared: @Loop () -> Bool = { true }
    /// What keeps its keys and its data from belonging together, for who runs it; asked once, before anything is served. `nil`:
    /// nothing does.
    public var misfit: @Loop () async throws -> String? = { nil }
    /// What the service shows of itself among this replica's gauges, by names that ``PrometheusText`` has words for.
    public var ownGauges: @Loop () -> [String: Double] = { [:] }
    private var isStopping = false
    /// Whether it has been ready since it started.
    private var wasReady = false
    private var outboxStatistics = OutboxStatistics()
    /// As it was last seen; `nil` until the database that is connected now was looked at.
    private var schema: SchemaState?
    private let end = LoopPromise<End>()

    /// Why a service ends by itself.
    public enum End: Sendable, Equatable {
        /// An operator wants it to.
        case dismissed
        /// It cannot go on as it is configured; the text says why.
        case refused(String)
    }

    /// Reads the configuration and puts the parts together; nothing is started.
    ///
    /// - Parameter logSink: takes each line of the log.
    /// - Throws: ``ConfigurationError``.
    public init(
        _ definition: ServiceDefinition, environment: [String: String],
        logSink: @escaping @Sendable ([UInt8]) -> Void = Log.standardError
    ) throws {
        self.definition = definition
        let configuration = try Configuration(
            variables: definition.allVariables, prefix: definition.prefix, environment: environment)
        self.configuration = configuration
        try Self.refuseOwner(definition, environment)
        var busConfiguration = BusConfiguration(service: definition.name)
        let security = try configuration.busSecurity()
        busConfiguration.security = security
        busConfiguration.peers = try configuration.discoveries(of: definition.peers)
        busConfiguration.bind = [try Self.endpoint(try configuration.text("BUS_BIND"), busConfiguration)]
        let level = Log.Level(rawValue: try configuration.text("LOG_LEVEL")) ?? .info
        log = Log(service: definition.name, instance: busConfiguration.instance, threshold: level, sink: logSink)
        security.onRefusal = { [log] in log.warning("bus_stranger", ["publicKey": .string($0.base64)]) }
        security.onProblem = { [log] in log.error("bus_keys", ["problem": .string($0)]) }
        keys = try configuration.keyRing("\(definition.prefix)KEYS")
        database = Database(
            DatabaseConfiguration(
                connectionString: try configuration.connectionString("\(definition.prefix)DATABASE_URL"),
                schema: definition.name.rawValue,
                poolSize: Int(try configuration.integer("\(definition.prefix)DATABASE_POOL")),
                applicationName: "vestibule-\(definition.name)"))
        database.onTimeout = { [log] in log.warning("database_timeout", ["error": .string(Log.name(of: $0))]) }
        inbox = Inbox(database: database, keys: keys)
        outbox = Outbox(database: database, keys: keys)
        audit = AuditTrail(keys: keys)
        anchorFile = AuditAnchorFile(definition, configuration)
        guard anchorFile != nil || configuration.profile == .development else {
            throw ConfigurationError("AUDIT_ANCHOR_FOLDER is required: who can write to the database must not reach it")
        }
        let bus = Bus(busConfiguration)
        self.bus = bus
        metrics = try MetricsListener(configuration) {
            let (report, service, instance) = (bus.report, busConfiguration.service, busConfiguration.instance)
            return {
                var text = PrometheusText()
                text.add(report, of: service, instance)
                return text.bytes
            }
        }
        bus.onInternalError = { [log] context, error in
            log.error(
                "request_failed", ["type": .string(context.type.rawValue), "error": .string(Log.name(of: error))],
                trace: context.trace)
        }
        bus.onOperatorCall = { [unowned self] type, messageID in
            log.warning(
                "operator_call", ["type": .string(type.rawValue), "messageId": .string(messageID.description)])
            Loop.spawn { [self] in await noteOperatorCall(type, messageID) }
        }
        database.onChange = { [log] in Self.record($0, in: log) }
        bus.onDismissal = { [log, end] in
            log.warning("operator_drain")
            end.resolve(.success(.dismissed))
        }
        bus.gauges = { [weak self] in self?.gauges ?? [:] }
        if level == .debug { bus.onAnswered = { [log] in Self.record($0, $1, $2, in: log) } }
        try definition.assemble(self)
    }

    private static func fields(of alarm: OutboxAlarm) -> [String: JSONValue] {
        switch alarm {
        case .clockJumped: ["alarm": "clock_jumped"]
        case .deadLetter(let destination, let id):
            ["alarm": "dead_letter", "destination": .string(destination), "id": .string(id.description)]
        case .blind(let code): ["alarm": "cannot_look", "code": .string(code)]
        }
    }

    private static func record(_ change: Database.Change, in log: Log) {
        switch change {
        case .lost(let reason): log.warning("database_lost", ["reason": .string(reason)])
        case .refused(let reason): log.warning("database_refuses", ["reason": .string(reason)])
        case .back: log.info("database_back")
        }
    }

    private static func record(_ context: RequestContext, _ code: String, _ elapsed: Duration, in log: Log) {
        log.debug(
            "answered",
            [
                "type": .string(context.type.rawValue), "caller": .string(context.caller.rawValue),
                "code": .string(code), "microseconds": .integer(Int64(elapsed.nanoseconds / 1000)),
            ], trace: context.trace)
    }

    /// Whoever breaks into a service must not find there what can switch off the triggers of the audit trail.
    private static func refuseOwner(
        _ definition: ServiceDefinition, _ environment: [String: String]
    ) throws(ConfigurationError) {
        let name = "\(definition.prefix)DATABASE_OWNER_URL"
        guard let given = [name, "\(name)_FILE"].first(where: { environment[$0]?.isEmpty == false }) else { return }
        throw ConfigurationError(
            "\(given) is for migrations only, and a running service must not have it: "
                + "run vestibule migrate with it, then start the service without it")
    }

    private static func endpoint(
        _ text: String, _ configuration: BusConfiguration
    ) throws(ConfigurationError) -> String {
        guard text.hasPrefix("ipc:"), !text.hasPrefix("ipc://") else { return text }
        do throws(Discovery.ParseError) {
            return try configuration.endpoint(inDirectory: String(text.dropFirst(4)))
        } catch {
            throw ConfigurationError("BUS_BIND: \(error.description)")
        }
    }

    // MARK: Assembly

    public func handle(_ handler: some RequestHandler) { bus.register(handler) }

    /// Takes outbox items that are for no other service: `sms`, `push`, `timer:hold-ended`.
    ///
    /// - Parameter isApart: by a relay of its own, so that a slow one keeps nothing else waiting.
    public func deliver(
        _ destination: String, apart isApart: Bool = false, _ body: @escaping @Loop (OutboxItem) async throws -> Void
    ) {
        deliverers[destination] = body
        if isApart { apart.append(destination) }
    }

    /// How a background waits between its rounds: ``hurry()`` ends it early.
    public func rest(for duration: Duration) async throws {
        guard !isStopping else { throw CancellationError() }
        let nap = LoopPromise<Void>()
        naps.append(nap)
        let timer = LoopTimer(after: duration) { nap.resolve(.success(())) }
        try await nap.get()
        timer.cancel()
        naps.removeAll { $0 === nap }
    }

    /// Begins the next round of each background that rests.
    public func hurry() { for nap in naps { nap.resolve(.success(())) } }

    /// Work that goes on beside the requests until the service stops. What it throws is logged, and it begins again.
    public func background(_ name: String, _ body: @escaping @Loop () async throws -> Void) {
        backgrounds.append((name, body))
    }

    // MARK: Life

    /// Connects, listens, and turns ready as soon as the database answers and has the tables of this build.
    public func start() async throws {
        try metrics?.start()
        if let metrics { log.info("metrics", ["port": .integer(Int64(metrics.port))]) }
        database.start()
        try bus.start()
        relays = ([.allBut(apart)] + apart.map { OutboxLane.only($0) }).map { relay($0) }
        tasks.append(Loop.spawn { [self] in await begin() })
    }

    private func relay(_ lane: OutboxLane) -> OutboxRelay {
        let relay = OutboxRelay(outbox, lane) { [unowned self] item in try await deliver(item) }
        relay.onFailure = { [log] destination, attempt, code in
            log.warning(
                "delivery_failed",
                ["destination": .string(destination), "attempt": .integer(attempt), "error": .string(code)])
        }
        relay.isNeverGivenUp = { Self.neverGivenUp.contains($0) }
        relay.absent = { [bus] in Self.subscribers.filter { !bus.hasReadyReplica(of: $0) }.map(\.rawValue) }
        relay.onAlarm = { [log] in log.error("outbox_alarm", Self.fields(of: $0)) }
        return relay
    }

    /// Who is told of events.
    private nonisolated static let subscribers = Set(
        Catalogue.all.filter { $0 is any BusEvent.Type }.flatMap { [$0.rules.service] + $0.rules.alsoTold })

    private nonisolated static let neverGivenUp = Set(
        Catalogue.all.filter { $0.rules.delivery == .untilTaken }.map { $0.type })

    private func begin() async {
        let inspector = SchemaInspector(database, migrations: definition.migrations)
        tasks.append(Loop.spawn { [self] in await keep("schema") { try await look(with: inspector) } })
        while !isStopping, schema?.isUsable != true { try? await Loop.sleep(for: .milliseconds(10)) }
        guard await areKeysThoseOfTheData(), !isStopping else { return }
        for relay in relays { tasks.append(Loop.spawn { await relay.run() }) }
        tasks.append(Loop.spawn { [self] in await watchDatabase() })
        tasks.append(Loop.spawn { [self] in await keep("audit-anchors") { try await anchor() } })
        tasks.append(Loop.spawn { [self] in await keep("outbox-inspector") { try await readOutboxStatistics() } })
        for (name, body) in backgrounds { tasks.append(Loop.spawn { [self] in await keep(name, body) }) }
        tasks.append(Loop.spawn { [self] in await purge() })
    }

    /// Tables may go while the service runs, and it must not say that it is ready without them.
    private func look(with inspector: SchemaInspector) async throws {
        try await database.waitUntilAvailable()
        let seen = try await inspector.look()
        guard seen != schema else { return }
        let wasUsable = schema?.isUsable
        schema = seen
        func names(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }
        if !seen.missing.isEmpty {
            log.error("schema_too_old", ["missing": names(seen.missing), "remedy": "vestibule migrate"])
        } else if !seen.lost.isEmpty {
            log.error("tables_missing", ["missing": names(seen.lost), "remedy": "restore a backup"])
        } else if wasUsable == false {
            log.info("schema_complete")
        }
        // On the way back from a release, or started once more while its replicas take this one's place.
        if !seen.newer.isEmpty { log.warning("schema_is_newer", ["unknown": names(seen.newer)]) }
    }

    /// Waits until there is a reason to end that lies in the service itself.
    public func waitForEnd() async -> End { (try? await end.get()) ?? .dismissed }

    /// Orderly: no new work, what is in hand is finished, then everything is closed. Within 8 s.
    public func stop(notice: Duration = .milliseconds(500)) async {
        guard !isStopping else { return }
        isStopping = true
        // What the relays have in hand wants a bus that still stands.
        await bus.drain(notice: notice) { [relays] in
            // Together: each waits for what it has in hand.
            let ends = relays.map { relay in Loop.spawn { await relay.stop() } }
            for end in ends { _ = await end.result }
        }
        for task in tasks { task.cancel() }
        hurry()
        await metrics?.stop()
        database.close()
    }

    private func deliver(_ item: OutboxItem) async throws {
        if let deliverer = deliverers[item.destination] { return try await deliverer(item) }
        guard let type = item.messageType else {
            throw BusError(.unknownMessage, "Nobody delivers \(item.destination).")
        }
        guard let message = Catalogue.all.first(where: { $0.type == type && $0.version == item.messageVersion }) else {
            throw BusError(.unknownMessage, "This build does not know \(type)/v\(item.messageVersion).")
        }
        var rules = message.rules
        // Of those whom an event is told this item is for one.
        rules.service = ServiceName(rawValue: item.destination)
        _ = try await bus.callRaw(
            type: type, version: item.messageVersion, rules: rules, body: item.payload,
            CallOptions(timeout: .seconds(5), messageID: item.id))
    }

    /// Ready is who has what it starts with and can reach its tables.
    private func watchDatabase() async {
        while !isStopping {
            // What is found behind the next connection may be another database.
            if !database.isAvailable { schema = nil }
            let isReady = database.isAvailable && schema?.isUsable == true && isPrepared()
            if isReady != (bus.state == .ready), bus.state != .draining {
                bus.state = isReady ? .ready : .starting
                wasReady = wasReady || isReady
                log.info(isReady ? "ready" : "not_ready")
            }
            try? await Loop.sleep(for: .milliseconds(50))
        }
    }

    /// Waits for the database, and says once and for all where the keys are another system's.
    private func areKeysThoseOfTheData() async -> Bool {
        while !isStopping {
            do {
                try await KeyFingerprints.verify(keys, in: database)
                guard let misfit = try await misfit() else { return true }
                refuseKeys(misfit)
                return false
            } catch let mismatch as KeyFingerprints.Mismatch {
                refuseKeys(
                    mismatch.isHashing
                        ? "its hashes were made with another key than \(mismatch.id). Let the line of that key end with "
                            + "`hashes`, and put new keys in front."
                        : "the key \(mismatch.id) is not the one that they were written with. "
                            + "Bring that key back, or use an empty database.")
                return false
            } catch DatabaseError.unavailable {
                try? await Loop.sleep(for: .milliseconds(50))
            } catch {
                // A table that is not there yet, for one: who waits for this service must hear why.
                log.warning("keys_not_compared", ["error": .string(Log.name(of: error))])
                try? await Loop.sleep(for: .seconds(1))
            }
        }
        return false
    }

    private func refuseKeys(_ why: String) {
        let text = "\(definition.prefix)KEYS and the data of \(definition.name) do not belong together: "
        end.resolve(.success(.refused(text + why)))
    }

    private func keep(_ name: String, _ body: @Loop () async throws -> Void) async {
        while !isStopping, !Task.isCancelled {
            do {
                try await body()
            } catch {
                guard !isStopping else { return }
                log.warning("background_failed", ["name": .string(name), "error": .string(Log.name(of: error))])
            }
            try? await Loop.sleep(for: .seconds(1))
        }
    }

    /// What an operator does as one stands in the trail too, whatever comes of it. It is of nobody: the message says of whom
    /// it is, where it is of somebody, with its own act.
    private func noteOperatorCall(_ type: MessageType, _ messageID: Identifier) async {
        let act = AuditAct("operator_called", ["type": type.rawValue, "message": messageID.description])
        do {
            try await database.transaction { audit.note(act, on: .service, in: $0) }
        } catch {
            log.error("operator_call_not_audited", ["messageId": .string(messageID.description)])
        }
    }

    /// Makes the anchors that are due, and writes to the file what any replica made.
    private func anchor() async throws {
        try await database.waitUntilAvailable()
        let anchors = AuditAnchors(database: database, keys: keys)
        try await anchors.anchorIfDue()
        try await anchorFile?.catchUp { try await anchors.runs(after: $0) }
        try await Loop.sleep(for: .seconds(60))
    }

    /// What `GET /metrics` and `vestibule top` show of this replica's database, and of what its service counts.
    private var gauges: [String: Double] {
        let pool = database.pool
        return [
            "database_connections": Double(pool.connections), "database_idle": Double(pool.idle),
            "database_waiting": Double(pool.waiting), "outbox_due": Double(outboxStatistics.due),
            "outbox_oldest_seconds": outboxStatistics.oldestSeconds, "outbox_dead": Double(outboxStatistics.dead),
            "schema_missing": Double((schema?.missing.count ?? 0) + (schema?.lost.count ?? 0)),
            ReadyCheck.gauge: wasReady ? 1 : 0,
        ].merging(ownGauges()) { $1 }
    }

    private func readOutboxStatistics() async throws {
        try await database.waitUntilAvailable()
        outboxStatistics = try await OutboxStatistics.look(in: database)
        try await Loop.sleep(for: .seconds(2))
    }

    private func purge() async {
        while !isStopping, !Task.isCancelled {
            let more = (try? await inbox.purge()) ?? false
            try? await Loop.sleep(for: more ? .milliseconds(100) : .seconds(30))
        }
    }
}
