import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import Foundation
import ServiceRuntime

/// A real service in this process. Its tables have their own database, its replicas are on a real bus, and tests stand
/// in for its callers and peers.
@Loop package final class ServiceStage {
    package let definition: ServiceDefinition
    package let scratch: ScratchDatabase
    package private(set) var containers: [ServiceContainer] = []
    private let folder: String
    /// The variables of each replica.
    package let environment: [String: String]
    package let keys: BusKeys
    /// The log of all replicas.
    package let log = LogBook()
    private var others: [ServiceName: Bus] = [:]
    /// How long callers wait for a replica. On a busy machine, finding a new one takes a while.
    private static let grace = Duration.seconds(10)

    /// - Parameters:
    ///   - replicas: the number of replicas that start together.
    ///   - environment: variables in addition to those that every service has.
    package init(
        _ definition: ServiceDefinition, replicas: Int = 1, environment: [String: String] = [:]
    ) async throws {
        self.definition = definition
        scratch = try await ScratchDatabase.make(schema: definition.name.identifier, migrations: definition.migrations)
        // The path of a socket must be short, so the name is short.
        folder = "/tmp/vs-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        keys = try BusKeys(in: folder)
        var variables = [
            "VESTIBULE_PROFILE": "development", "BUS_BIND": "ipc:\(folder)",
            "BUS_KEY": keys.secret(of: definition.name),
            "BUS_ALLOWED": keys.list,
            "LOG_LEVEL": "debug", "AUDIT_ANCHOR_FOLDER": folder, "\(definition.prefix)DATABASE_URL": scratch.runtime,
            "\(definition.prefix)KEYS": KeyRing.generate(id: "test"),
        ]
        for peer in definition.peers { variables["BUS_\(peer.identifier.uppercased())"] = "ipc:\(folder)" }
        self.environment = variables.merging(environment) { $1 }
        for _ in 0..<replicas { try await addReplica() }
    }

    /// Runs a test on a stage, and always stops the stage afterwards.
    ///
    /// The body runs as a task of the loop. In the test's own task, each resumed continuation would hop to the global
    /// pool and back.
    package nonisolated static func run(
        _ definition: ServiceDefinition, replicas: Int = 1, environment: [String: String] = [:],
        _ body: @escaping @Loop @Sendable (ServiceStage) async throws -> Void
    ) async throws {
        let test = Loop.spawn {
            try await perform(definition, replicas: replicas, environment: environment, body)
        }
        try await test.value
    }

    private static func perform(
        _ definition: ServiceDefinition, replicas: Int, environment: [String: String],
        _ body: @Loop (ServiceStage) async throws -> Void
    ) async throws {
        let stage = try await ServiceStage(definition, replicas: replicas, environment: environment)
        do {
            try await body(stage)
        } catch {
            await stage.stop()
            throw error
        }
        await stage.stop()
    }

    /// Starts another replica with the same tables and keys.
    @discardableResult
    package func addReplica() async throws -> ServiceContainer {
        let container = try ServiceContainer(definition, environment: environment) { [log] in log.append($0) }
        containers.append(container)
        try await container.start()
        return container
    }

    /// Replaces all replicas with a single one that lacks these variables.
    package func replaceReplicas(without names: Set<String>) async throws {
        try await replaceReplicas(by: environment.filter { !names.contains($0.key) })
    }

    /// Replaces all replicas with a single one that has exactly these variables.
    package func replaceReplicas(by environment: [String: String]) async throws {
        let old = containers
        containers = []
        let container = try ServiceContainer(definition, environment: environment) { [log] in log.append($0) }
        containers.append(container)
        try await container.start()
        for container in old { await container.stop(notice: .zero) }
    }

    /// Another service's connection to the bus, for calling this service.
    package func asking(as caller: ServiceName) throws -> Bus {
        if let known = others[caller] { return known }
        let peers = [definition.name: try Discovery("ipc:\(folder)")]
        var configuration = BusConfiguration(service: caller, peers: peers)
        configuration.security = try keys.security(of: caller)
        configuration.grace = Self.grace
        configuration.discoveryInterval = .milliseconds(20)
        let bus = Bus(configuration)
        others[caller] = bus
        try bus.start()
        return bus
    }

    /// A raw peer with the key of a service.
    package func rawPeer(as caller: ServiceName) throws -> RawPeer? {
        guard let endpoint = containers.first?.bus.endpoint, let secret = BusKey(base64: keys.secret(of: caller)),
            let server = try keys.publicKey(of: definition.name)
        else { return nil }
        return try RawPeer.caller(of: endpoint, secret: secret, towards: server)
    }

    /// Stands in for a peer of this service. It replaces an earlier stand-in for that peer. Call it before
    /// ``asking(as:)`` with the same name.
    package func answering<each Handler: RequestHandler>(
        as service: ServiceName, _ handlers: repeat each Handler
    ) throws {
        var configuration = BusConfiguration(service: service, peers: [definition.name: try Discovery("ipc:\(folder)")])
        configuration.bind = [try configuration.endpoint(inDirectory: folder)]
        configuration.security = try keys.security(of: service)
        configuration.grace = Self.grace
        configuration.discoveryInterval = .milliseconds(20)
        let bus = Bus(configuration)
        repeat bus.register(each handlers)
        others[service]?.stop()
        others[service] = bus
        bus.state = .ready
        try bus.start()
    }

    /// Waits until every replica has found the stand-in for a service. On a busy machine, that takes longer than a
    /// replica waits.
    package func untilFound(_ service: ServiceName) async throws {
        for container in containers {
            guard try await eventually({ container.bus.hasReadyReplica(of: service) }) else {
                throw ScratchCluster.Failure(description: "\(service) is not found")
            }
        }
    }

    /// Waits until every replica is ready. The tables then have the rows that a replica writes at its first start.
    package func untilReady() async throws {
        for container in containers {
            guard try await eventually({ container.bus.state == .ready }) else {
                throw ScratchCluster.Failure(description: "a replica does not turn ready")
            }
        }
    }

    /// Runs SQL and returns the rows as `psql` does. After an update of the outbox, the replicas look for due items at
    /// once.
    @discardableResult
    package func rows(_ sql: String) async throws -> String {
        let rows = try await scratch.query(sql)
        if sql.contains("UPDATE outbox") { for container in containers { container.outbox.lookNow() } }
        return rows
    }

    /// Runs a statement as the services do, with one plan for all values, and counts the rows of a table that it reads.
    ///
    /// - Parameters:
    ///   - values: those of the statement's parameters.
    ///   - preparation: SQL that fills the table before.
    package func rowsRead(
        of table: String, by statement: String, _ values: [Int] = [], after preparation: String
    ) async throws -> Int? {
        // Do not check foreign keys, since the other tables are empty.
        try await rows("SET session_replication_role = replica; \(preparation); ANALYZE \(table)")
        return Int(
            try await rows(
                """
                SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
                PREPARE looked AS \(statement);
                EXECUTE looked\(values.isEmpty ? "" : "(\(values.map(String.init).joined(separator: ", ")))");
                SELECT coalesce(idx_tup_fetch, 0) + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = '\(table)'
                """))
    }

    /// The connection string of the role that owns the tables.
    package var owner: String { scratch.owner }

    package func stop() async {
        for container in containers { await container.stop(notice: .zero) }
        for bus in others.values { bus.stop() }
        try? await scratch.drop()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
