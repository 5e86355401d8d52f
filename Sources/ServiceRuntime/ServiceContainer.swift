import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText

/// One running service with its bus, database and outbox. A process can run several.
@Loop package final class ServiceContainer {
    /// The definition that the service was made from.
    package let definition: ServiceDefinition
    /// The service's configuration.
    package let configuration: Configuration
    /// The service's log.
    package let log: Log
    /// The connection to the bus.
    package let bus: Bus
    /// The pool of connections to the service's database.
    package let database: Database
    /// The database for counting people for statistics: a standby, if the operator has one for it. Its data may be old,
    /// so no decision about a person may depend on them.
    package let statistics: Database
    /// The service's key ring.
    package let keys: KeyRing
    /// Executes each request with an idempotency key once.
    package let inbox: Inbox
    /// Stores events and other items for delivery.
    package let outbox: Outbox
    /// The service's audit trail.
    package let audit: AuditTrail
    /// Delivers the items of the outbox.
    package let delivery: OutboxDelivery
    private let anchorFile: AuditAnchorFile?
    private let metrics: MetricsListener?
    private let schema: SchemaMonitor
    private let outboxMonitor: OutboxMonitor
    private var readiness: Readiness?
    private let group = ServiceGroup()
    private var backgrounds: [PeriodicTask] = []
    private var starting: Task<Void, any Error>?
    private var isStopping = false
    /// Whether the service has loaded the data that it needs before its first request. The container calls this until
    /// the service stops.
    package var isPrepared: @Loop () -> Bool = { true }
    /// Returns why the service's keys do not fit its data, for the operator; `nil` if they fit. The container calls
    /// this before the service takes requests, and again after an error.
    package var misfit: @Loop () async throws -> String? = { nil }
    /// Loads the data that the service needs before its first request. Returns why the service cannot run with its
    /// configuration, for the operator; `nil` if it can. The container calls this again after an error.
    package var prepare: @Loop () async throws -> String? = { nil }
    /// The service's own gauges of this replica. Prometheus gets the gauges whose names ``PrometheusText`` knows.
    package var ownGauges: @Loop () -> [String: Double] = { [:] }
    /// The sections of the service's ``export(_:)``. Tests compare them with the tables.
    package private(set) var sections: [ExportSection] = []
    private let end = LoopPromise<End>()

    /// Why a service ends by itself.
    package enum End: Sendable, Equatable {
        /// An operator drained the replica.
        case dismissed
        /// The service cannot run with its configuration. The text says why.
        case refused(String)
    }

    /// Reads the configuration and creates the parts. Nothing starts yet.
    ///
    /// - Parameter logSink: receives each line of the log.
    /// - Throws: ``ConfigurationError``.
    package init(
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
        database = Database(try configuration.database(of: definition, for: busConfiguration.instance))
        log.record(of: database)
        if let standby = try configuration.standby(of: definition, for: busConfiguration.instance) {
            statistics = Database(standby)
            log.record(of: statistics, for: "statistics")
        } else {
            statistics = database
        }
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
        bus.register(AgreeOnEpochHandler(database: database))
        let operatorCalls = OperatorCalls(database: database, audit: audit, log: log)
        bus.onOperatorCall = { type, messageID in Loop.spawn { await operatorCalls.note(type, messageID) } }
        bus.onDismissal = { [log, end] in
            log.warning("operator_drain")
            end.resolve(.success(.dismissed))
        }
        bus.gauges = { [weak self] in self?.gauges ?? [:] }
        if level == .debug { bus.onAnswered = { [log] in log.record($0, $1, $2) } }
        for receiver in ReceiverEpoch.receivers(of: definition.name) {
            let epoch = ReceiverEpoch(receiver: receiver, outbox: outbox, bus: bus, log: log)
            let task = PeriodicTask("receiver-epoch", every: .seconds(10), log: log) { try await epoch.agree() }
            backgrounds.append(task)
            delivery.onAwaited[receiver.rawValue] = { task.hurry() }
        }
        try definition.assemble(self)
    }

    // MARK: Assembly

    /// Registers the handler of one type of request or event.
    package func handle(_ handler: some RequestHandler) { bus.register(handler) }

    /// Registers the deliverer of outbox items that are not messages to a service, such as `sms`, `push` and
    /// `timer:hold-ended`.
    ///
    /// - Parameter isApart: whether the destination gets its own relay, so that a slow destination does not delay
    ///   others.
    package func deliver(
        _ destination: String, apart isApart: Bool = false, _ body: @escaping @Loop (OutboxItem) async throws -> Void
    ) {
        delivery.register(destination, apart: isApart, body)
    }

    /// Repeats a task in the background until the service stops. It logs a failed round and repeats it after a second.
    ///
    /// - Parameter period: the time from the end of a round to the next one. If it is `nil`, the task ends after its
    ///   first successful round.
    /// - Parameter end: called when the service stops, to end what the task has started, such as a server.
    /// - Returns: starts the next round, if the task is waiting for it.
    @discardableResult
    package func background(
        _ name: String, every period: Duration?, _ round: @escaping @Loop () async throws -> Void,
        end: @escaping @Loop () async -> Void = {}
    ) -> @Loop () -> Void {
        let task = PeriodicTask(name, every: period, log: log, round, end: end)
        backgrounds.append(task)
        return { task.hurry() }
    }

    /// Starts the next round of each background task that is waiting for it.
    package func hurry() { for background in backgrounds { background.hurry() } }

    /// Exports everything that the service holds about a person.
    ///
    /// - Parameter sections: describe the tables that are not exported as they are. Every other table with a column
    ///   `person_id` is exported by itself.
    package func export(_ sections: [ExportSection]) -> PersonExport {
        self.sections = sections
        return PersonExport(database: database, sections: sections)
    }

    // MARK: Life

    /// Connects and listens. The replica becomes ready as soon as the database answers and has the tables of this
    /// build.
    package func start() async throws {
        try metrics?.start()
        if let metrics { log.info("metrics", ["port": .integer(Int64(metrics.port))]) }
        database.start()
        if statistics !== database { statistics.start() }
        try bus.start()
        starting = Loop.spawn { [self] in try await startParts() }
    }

    /// Checks the schema and the keys first, so that no other part uses the database of another service.
    private func startParts() async throws {
        group.start(PeriodicTask("schema", every: .seconds(1), log: log) { [schema] in try await schema.look() })
        try await schema.waitUntilUsable()
        let verification = KeyVerification(keys: keys, database: database, log: log, misfit: misfit)
        if let reason = try await verification.run() {
            let text = "\(definition.prefix)KEYS and the data of \(definition.name) do not belong together: "
            return end.resolve(.success(.refused(text + reason)))
        }
        if let reason = try await untilAnswered("start_not_prepared", log: log, prepare) {
            return end.resolve(.success(.refused(reason)))
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
            PeriodicTask("outbox-statistics", every: .seconds(3), log: log) { [outboxMonitor] in
                try await outboxMonitor.look()
            })
        group.start(
            PeriodicTask("connection-demand", every: nil, log: log) { [log, database] in
                let demand = try await ConnectionDemand(database)
                guard demand.isTooHigh else { return }
                log.warning(
                    "database_connections_scarce", ["pools": .integer(demand.pools), "most": .integer(demand.most)])
            })
        for background in backgrounds { group.start(background) }
        group.start(
            PeriodicTask("purge", every: .seconds(30), log: log) { [inbox, outbox] in
                while try await inbox.purge() { try await Loop.sleep(for: .milliseconds(100)) }
                try await outbox.purgeDelivered()
            })
    }

    /// Waits until an operator drains the replica or the service refuses its configuration.
    package func waitForEnd() async -> End { (try? await end.get()) ?? .dismissed }

    /// Stops gracefully within 8 s: takes no new work, finishes the current work and closes everything.
    package func stop(notice: Duration = .milliseconds(500)) async {
        guard !isStopping else { return }
        isStopping = true
        starting?.cancel()
        // Relays need a working bus to finish their current items.
        await bus.drain(notice: notice) { [delivery] in await delivery.stop() }
        await group.stop()
        await metrics?.stop()
        database.close()
        statistics.close()
    }

    /// The gauges of this replica's database and of the service itself, for `GET /metrics` and `vestibule top`.
    private var gauges: [String: Double] {
        let pool = database.pool
        return [
            "database_connections": Double(pool.connections), "database_idle": Double(pool.idle),
            "database_waiting": Double(pool.waiting), "schema_missing": Double(schema.missing),
            ReadyCheck.gauge: readiness?.wasReady == true ? 1 : 0,
        ].merging(outboxMonitor.gauges) { $1 }.merging(ownGauges()) { $1 }
    }
}
