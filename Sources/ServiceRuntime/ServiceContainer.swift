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
    /// What delivers the items of the outbox.
    public let delivery: OutboxDelivery
    private let anchorFile: AuditAnchorFile?
    private let metrics: MetricsListener?
    private let schema: SchemaMonitor
    private let outboxMonitor: OutboxMonitor
    private var readiness: Readiness?
    private let group = ServiceGroup()
    private var backgrounds: [PeriodicTask] = []
    private var starting: Task<Void, any Error>?
    private var isStopping = false
    /// Whether the service has what it must have read before its first request comes; asked until the service stops.
    public var isPrepared: @Loop () -> Bool = { true }
    /// What keeps its keys and its data from belonging together, for who runs it; asked once, before anything is served. `nil`:
    /// nothing does.
    public var misfit: @Loop () async throws -> String? = { nil }
    /// What the service shows of itself among this replica's gauges, by names that ``PrometheusText`` has words for.
    public var ownGauges: @Loop () -> [String: Double] = { [:] }
    /// What of the export is not as the tables are. Every other table with a person's id is exported and erased by itself.
    public var sections: [ExportSection] = []
    /// Everything that the service holds about a person.
    public var export: PersonExport { PersonExport(database: database, sections: sections) }
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
        try definition.refuseOwner(environment)
        let busConfiguration = try configuration.bus(of: definition)
        let level = Log.Level(rawValue: try configuration.text("LOG_LEVEL")) ?? .info
        log = Log(service: definition.name, instance: busConfiguration.instance, threshold: level, sink: logSink)
        busConfiguration.security?.onRefusal = { [log] in
            log.warning("bus_stranger", ["publicKey": .string($0.base64)])
        }
        busConfiguration.security?.onProblem = { [log] in log.error("bus_keys", ["problem": .string($0)]) }
        keys = try configuration.keyRing("\(definition.prefix)KEYS")
        database = Database(try configuration.database(of: definition))
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
        delivery = OutboxDelivery(outbox, over: bus, log: log)
        schema = SchemaMonitor(database, migrations: definition.migrations, log: log)
        outboxMonitor = OutboxMonitor(database)
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
        let operatorCalls = OperatorCalls(database: database, audit: audit, log: log)
        bus.onOperatorCall = { type, messageID in Loop.spawn { await operatorCalls.note(type, messageID) } }
        database.onChange = { [log] in log.record($0) }
        bus.onDismissal = { [log, end] in
            log.warning("operator_drain")
            end.resolve(.success(.dismissed))
        }
        bus.gauges = { [weak self] in self?.gauges ?? [:] }
        if level == .debug { bus.onAnswered = { [log] in log.record($0, $1, $2) } }
        try definition.assemble(self)
    }

    // MARK: Assembly

    /// Takes the requests or events of one type.
    public func handle(_ handler: some RequestHandler) { bus.register(handler) }

    /// Takes outbox items that are for no other service: `sms`, `push`, `timer:hold-ended`.
    ///
    /// - Parameter isApart: by a relay of its own, so that a slow one keeps nothing else waiting.
    public func deliver(
        _ destination: String, apart isApart: Bool = false, _ body: @escaping @Loop (OutboxItem) async throws -> Void
    ) {
        delivery.register(destination, apart: isApart, body)
    }

    /// Work that goes on beside the requests until the service stops. A round that fails is logged and repeated after a second.
    ///
    /// - Parameter period: between the end of a round and the next one; `nil`: one round that succeeds is all.
    public func background(
        _ name: String, every period: Duration?, _ round: @escaping @Loop () async throws -> Void
    ) { backgrounds.append(PeriodicTask(name, every: period, log: log, round)) }

    /// Begins the next round of all work in the background that waits for it.
    public func hurry() { for background in backgrounds { background.hurry() } }

    // MARK: Life

    /// Connects, listens, and turns ready as soon as the database answers and has the tables of this build.
    public func start() async throws {
        try metrics?.start()
        if let metrics { log.info("metrics", ["port": .integer(Int64(metrics.port))]) }
        database.start()
        try bus.start()
        starting = Loop.spawn { [self] in try await startParts() }
    }

    /// Nothing else looks at the database before its tables and the keys are known to be those of this service.
    private func startParts() async throws {
        group.start(PeriodicTask("schema", every: .seconds(1), log: log) { [schema] in try await schema.look() })
        try await schema.waitUntilUsable()
        let verification = KeyVerification(keys: keys, database: database, log: log, misfit: misfit)
        if let reason = try await verification.run() {
            let text = "\(definition.prefix)KEYS and the data of \(definition.name) do not belong together: "
            return end.resolve(.success(.refused(text + reason)))
        }
        group.start(delivery)
        let readiness = Readiness(of: bus, database, schema, log: log, isPrepared: isPrepared)
        self.readiness = readiness
        group.start(readiness)
        let anchors = AuditAnchors(database: database, keys: keys)
        group.start(
            PeriodicTask("audit-anchors", every: .seconds(60), log: log) { [anchorFile] in
                try await anchors.anchorIfDue()
                try await anchorFile?.catchUp { try await anchors.runs(after: $0) }
            })
        group.start(
            PeriodicTask("outbox-inspector", every: .seconds(3), log: log) { [outboxMonitor] in
                try await outboxMonitor.look()
            })
        for background in backgrounds { group.start(background) }
        group.start(
            PeriodicTask("inbox-purge", every: .seconds(30), log: log) { [inbox] in
                while try await inbox.purge() { try await Loop.sleep(for: .milliseconds(100)) }
            })
    }

    /// Waits until there is a reason to end that lies in the service itself.
    public func waitForEnd() async -> End { (try? await end.get()) ?? .dismissed }

    /// Orderly: no new work, what is in hand is finished, then everything is closed. Within 8 s.
    public func stop(notice: Duration = .milliseconds(500)) async {
        guard !isStopping else { return }
        isStopping = true
        starting?.cancel()
        // What the relays have in hand needs a bus that still works.
        await bus.drain(notice: notice) { [delivery] in await delivery.stop() }
        await group.stop()
        await metrics?.stop()
        database.close()
    }

    /// What `GET /metrics` and `vestibule top` show of this replica's database, and of what its service counts.
    private var gauges: [String: Double] {
        let pool = database.pool
        return [
            "database_connections": Double(pool.connections), "database_idle": Double(pool.idle),
            "database_waiting": Double(pool.waiting), "schema_missing": Double(schema.missing),
            ReadyCheck.gauge: readiness?.wasReady == true ? 1 : 0,
        ].merging(outboxMonitor.gauges) { $1 }.merging(ownGauges()) { $1 }
    }
}
