import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VestibuleCLI

/// Services in processes that a test can kill. Their tables are on a real PostgreSQL, and the test calls them over a
/// real bus.
@Loop final class Fleet {
    let installation: Installation
    let cluster: ScratchCluster
    let gateway: Bus
    /// The process that ``startGateway(variables:)`` started.
    private(set) var gatewayProcess: pid_t?
    private let database: String
    private var running: Set<pid_t> = []
    /// The services whose tables are there, or soon will be.
    private var tables: Set<ServiceName> = []
    private var buses: [Bus] = []

    private init(on cluster: ScratchCluster) async throws {
        installation = try Installation()
        let (name, state) = ("fleet_\(UUID().uuidString.prefix(8).lowercased())", installation.state)
        try state.ensureKeys()
        try BusKeyFolder(path: state.keys).makeMissing()
        _ = try await Loop.offload { try cluster.query("postgres", "CREATE DATABASE \(name) OWNER scratch_owner") }
        (self.cluster, database) = (cluster, name)
        var configuration = try Self.configuration(of: .gateway, state)
        let found = try Discovery("ipc:\(state.bus)")
        configuration.peers = [.auth: found, .profile: found, .recovery: found]
        gateway = Bus(configuration)
        buses.append(gateway)
        try gateway.start()
    }

    /// Runs a test on a fleet without a process, and ends all processes that it started.
    ///
    /// - Parameter server: the name of a PostgreSQL of its own, for who restarts it; otherwise that of all tests.
    nonisolated static func run(
        server: String? = nil, _ body: @escaping @Loop @Sendable (Fleet) async throws -> Void
    ) async throws {
        let cluster = try await Loop.offload { try server.map { try ScratchCluster("-\($0)") } ?? .shared.get() }
        defer { if server != nil { cluster.destroy() } }
        let test = Loop.spawn { try await perform(on: cluster, body) }
        try await test.value
    }

    private static func perform(
        on cluster: ScratchCluster, _ body: @Loop (Fleet) async throws -> Void
    ) async throws {
        let fleet = try await Fleet(on: cluster)
        defer { fleet.stop() }
        try await body(fleet)
    }

    private func stop() {
        for process in running { kill(process) }
        for bus in buses { bus.stop() }
        installation.remove()
    }

    // MARK: Processes

    /// - Parameters:
    ///   - folder: of the database's socket, where it is not the server's own.
    ///   - variables: beside those that the service needs.
    ///   - authority: the file with the only authority that the process trusts, in the place of the system's.
    @discardableResult
    func start(
        _ service: ServiceName, through folder: String? = nil, variables: [String: String] = [:],
        trusting authority: String? = nil
    ) throws -> pid_t {
        let (state, prefix) = (installation.state, service.identifier.uppercased())
        var environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "VESTIBULE_PROFILE": "development", "SPOOL_DIR": state.spool,
            "BUS_BIND": "ipc:\(state.bus)",
            "BUS_KEY_FILE": BusKeyFolder(path: state.keys).secret(of: service.rawValue),
            "BUS_ALLOWED": BusKeyFolder(path: state.keys).list,
            "\(prefix)_KEYS_FILE": state.keyRing(service.rawValue),
            "\(prefix)_DATABASE_URL": url("scratch_runtime", through: folder),
        ]
        for peer in StateFolder.services {
            environment["BUS_\(peer.variablePrefix)"] = "ipc:\(state.bus)"
        }
        switch service {
        case .auth:
            // Everybody in a test comes from one address, and has a number of one prefix.
            (environment["AUTH_OTP_PER_ADDRESS_HOUR"], environment["AUTH_OTP_PREFIX_BREAKER"]) = ("100000", "off")
            (environment["AUTH_SMS_PER_HOUR"], environment["AUTH_SMS_PER_HOUR_COUNTRY"]) = ("off", "off")
            // Two codes are sent in a recovery.
            environment["AUTH_OTP_RESEND_AFTER"] = "1s"
        case .recovery: environment["RECOVERY_PER_ADDRESS_DAY"] = "100000"
        default: break
        }
        // Long enough that a case is held for a while, short enough to see it end.
        if [.auth, .recovery].contains(service) { environment["RECOVERY_HOLD"] = "1s" }
        let name = try #require(LocalSystem.programs[service.rawValue])
        let program = installation.program(name)
        if tables.insert(service).inserted {
            let roles = ["DATABASE_URL": url("scratch_runtime"), "DATABASE_OWNER_URL": url("scratch_owner")]
            let migrated = try installation.run(
                program: name, "--migrate",
                variables: Dictionary(uniqueKeysWithValues: roles.map { ("\(prefix)_\($0)", $1) }))
            try #require(migrated.code == 0, "\(migrated.output)")
        }
        environment.merge(variables) { $1 }
        var command = ["setpriv", "--pdeathsig", "KILL", "--", program]
        if let authority {
            let replaced = "mount --bind \"$0\" /etc/ssl/certs/ca-certificates.crt && exec \"$@\""
            command = ["unshare", "--mount", "--", "sh", "-c", replaced, authority] + command
        }
        let process = try Subprocess.start(
            command, environment: environment,
            output: state.log(service.rawValue), newSession: true)
        running.insert(process)
        return process
    }

    /// A gateway before the services; the port at which it will listen.
    ///
    /// - Parameter variables: beside those that it needs.
    func startGateway(variables: [String: String] = [:]) throws -> Int {
        let free = try RawServer.listenAtFreePort()
        close(free.descriptor)
        let (state, keys) = (installation.state, BusKeyFolder(path: installation.state.keys))
        var environment = [
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "VESTIBULE_PROFILE": "development",
            "GATEWAY_HTTP": "127.0.0.1:\(free.port)",
            "GATEWAY_RATE_LIMIT": "off", "BUS_KEY_FILE": keys.secret(of: "gateway"), "BUS_ALLOWED": keys.list,
        ]
        for peer in StateFolder.services {
            environment["BUS_\(peer.variablePrefix)"] = "ipc:\(state.bus)"
        }
        environment.merge(variables) { $1 }
        let process = try Subprocess.start(
            ["setpriv", "--pdeathsig", "KILL", "--", installation.program("Gateway")], environment: environment,
            output: state.log("gateway"), newSession: true)
        running.insert(process)
        gatewayProcess = process
        return Int(free.port)
    }

    /// As `kill -9` does: it says nothing to anybody.
    func kill(_ process: pid_t) {
        running.remove(process)
        Foundation.kill(process, SIGKILL)
        _ = Subprocess.wait(process)
    }

    /// Waits until a process ends by itself.
    ///
    /// - Returns: its exit code; `nil` where a signal ended it.
    func end(of process: pid_t) async throws -> Int32? {
        let status = try await Loop.offload { Subprocess.wait(process) }
        running.remove(process)
        return Subprocess.exitCode(of: status)
    }

    /// Waits until so many replicas take requests.
    func ready(_ service: ServiceName, _ count: Int) async throws {
        let isReady = try await eventually(within: .seconds(20)) {
            gateway.replicas(of: service).count { $0.isAlive && $0.state == .ready } == count
        }
        try #require(isReady, "\(count) replicas of \(service) did not get ready")
    }

    // MARK: Bus

    /// The test uses the keys of the service that it replaces.
    private static func configuration(of service: ServiceName, _ state: StateFolder) throws -> BusConfiguration {
        let keys = BusKeyFolder(path: state.keys)
        let secret = try String(contentsOfFile: keys.secret(of: service.rawValue), encoding: .utf8)
        var configuration = BusConfiguration(service: service)
        // On a busy machine, a replica that has just started may not be found yet.
        configuration.grace = .seconds(10)
        configuration.security = try BusSecurity(secret: String(secret.dropLast()), allowList: keys.list)
        return configuration
    }

    /// The side of somebody else on the bus.
    func asking(as caller: ServiceName, _ service: ServiceName) throws -> Bus {
        var configuration = try Self.configuration(of: caller, installation.state)
        configuration.peers = [service: try Discovery("ipc:\(installation.state.bus)")]
        let bus = Bus(configuration)
        buses.append(bus)
        try bus.start()
        return bus
    }

    /// The code of the last SMS to a phone.
    func code(for phone: String) async throws -> String {
        let spool = VestibuleCLI.Spool(file: "\(installation.state.spool)/sms.jsonl")
        var code: String?
        _ = try await eventually {
            let text = spool.lines().last { $0["to"]?.stringValue == phone }?["body"]?.stringValue
            code = text.map { String($0.prefix(6)) }
            return code != nil
        }
        return try #require(code, "no SMS came")
    }

    /// A new session of a person on a new device.
    func signIn(_ phone: String) async throws -> Session {
        let options = CallOptions(timeout: .seconds(10), clientAddress: "192.0.2.7")
        let sent = try await gateway.call(SendOTP(phone: phone), options)
        let device = DeviceClaim(name: "Pixel 9", platform: "android")
        return try await gateway.call(
            VerifyOTP(challengeId: sent.challengeId, code: try await code(for: phone), device: device), options)
    }

    /// Asks each replica of a service by itself.
    func eachReplica(of service: ServiceName) async throws -> [Bus] {
        let alone = try gateway.replicas(of: service).map { replica in
            var configuration = try Self.configuration(of: .gateway, installation.state)
            configuration.peers = [service: .endpoints([replica.endpoint])]
            return Bus(configuration)
        }
        buses += alone
        for bus in alone { try bus.start() }
        try #require(try await eventually { alone.allSatisfy { $0.hasReadyReplica(of: service) } })
        return alone
    }

    /// Stands in for a service that the processes tell or ask.
    func answer(as service: ServiceName, _ handler: some RequestHandler) throws {
        var configuration = try Self.configuration(of: service, installation.state)
        configuration.bind = [try configuration.endpoint(inDirectory: installation.state.bus)]
        let bus = Bus(configuration)
        bus.register(handler)
        bus.state = .ready
        try bus.start()
        buses.append(bus)
    }

    func options(key: String) -> CallOptions {
        CallOptions(timeout: .seconds(10), clientAddress: "192.0.2.7", idempotencyKey: key)
    }

    // MARK: Tables

    func url(_ role: String, through folder: String? = nil) -> String {
        "host=\(folder ?? cluster.folder) dbname=\(database) user=\(role)"
    }

    /// Runs SQL as the superuser.
    @discardableResult
    func sql(_ text: String) async throws -> String {
        let (cluster, database) = (cluster, database)
        return try await Loop.offload { try cluster.query(database, text) }
    }

    /// Waits until SQL gives the expected result, for longer than a lease. The server may still execute statements of a
    /// killed relay, even after ``endLeases(of:)``.
    func wait(until sql: String, is expected: String) async throws {
        var seen = ""
        let isSo = try await eventually(within: .seconds(45)) {
            seen = try await self.sql(sql)
            return seen == expected
        }
        try #require(isSo, "\(sql): \(seen) and not \(expected)")
    }

    /// Ends all leases, so that items of a killed relay are free at once and not after thirty seconds. Items of a
    /// living relay are then delivered twice. A test that counts deliveries names only services that do not run.
    func endLeases(of services: Set<ServiceName>? = nil) async throws {
        for service in services ?? tables { try await sql("UPDATE \(service).outbox SET locked_until = NULL") }
    }

    /// Publishes events as auth would, with its keys.
    func publishEvents(about people: [Identifier]) async throws {
        try await AccountEvents.publish(
            about: people, database: url("scratch_runtime"), keys: installation.state.keyRing("auth"), deadAt: nil)
    }
}
