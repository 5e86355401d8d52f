import BusProtocol
import Foundation
import JSONText
import Synchronization

/// A system on this machine: PostgreSQL, the services and the gateway.
final class LocalSystem {
    let state: StateFolder
    let address: String
    private let scale: [String: Int]
    /// Variables of the programs. They replace those of the environment.
    private let variables: [String: String]
    private let hangs: HangWatch
    private var postgres: PostgresServer?
    private var supervisor: Supervisor?
    private let log: SupervisorLog
    private var lock: Int32 = -1
    private var ports: [SharedPort] = []
    private var turns = 0
    /// Why the last restart of the database failed; `nil` while it runs.
    private var trouble: String?

    /// The profile of the systems that this process starts. Its default is the development profile.
    static let profile = ProcessInfo.processInfo.environment["VESTIBULE_PROFILE"] ?? "development"

    static let programs = StateFolder.services.reduce(into: ["gateway": "Gateway"]) { programs, service in
        programs[service] = service.split(separator: "-").map(\.capitalized).joined() + "Service"
    }

    /// The path of the program of a service or of the gateway. It is in the folder of this program.
    static func program(of service: String) -> String { binary(programs[service] ?? service) }

    init(
        state: StateFolder, address: String, scale: [String: Int] = [:], variables: [String: String] = [:],
        hangs: HangWatch = HangWatch()
    ) {
        self.state = state
        self.address = address
        self.scale = scale
        self.variables = variables
        self.hangs = hangs
        log = SupervisorLog(path: state.log("supervisor"))
    }

    /// Starts everything and returns when the gateway is ready. If it fails, it stops what it started.
    func start() throws {
        lock = try state.lock()
        do {
            try Self.refuseUsedPort(address)
            ports = try Self.pictureServers.map { _ in try SharedPort() }
            // Make the supervisor first. It blocks signals, so that none can end the start half-way.
            let supervisor = Supervisor(log) { [state, address] children in
                Self.write(children, to: state, address: address)
            }
            self.supervisor = supervisor
            let postgres = try PostgresServer(state)
            self.postgres = postgres
            // A new cluster takes half a second on one processor. If the environment has a mistake, the cluster stays,
            // without roles and tables.
            let given = Self.ownVariables.union(variables.keys)
            let steps: [@Sendable () throws -> Void] = [
                { try ConfigurationCheck.refuseMistakes(but: given) }, postgres.createWhereNew,
            ]
            for outcome in steps.together({ try $0() }) { try outcome.get() }
            try postgres.start()
            let migrated = try ServiceTables.all(in: state, postgres).together { try $0.migrate() }
            for outcome in migrated { _ = try outcome.get() }
            // Make key rings after the tables. So if a service has a key ring, it has had tables.
            try state.ensureKeys()
            try BusKeyFolder(path: state.keys).makeMissing()
            for service in StateFolder.services {
                for replica in 1...(scale[service] ?? 1) {
                    try supervisor.start(try program(service, postgres, replica))
                }
            }
            try supervisor.start(try program("gateway", postgres, 1))
            // Forget the known variables. A later change of the scale starts programs, and after a new build they may
            // read other variables.
            Self.knownVariables.withLock { $0 = [:] }
            try waitUntilReady(supervisor)
            watch(supervisor, postgres)
        } catch {
            stop()
            throw error
        }
    }

    /// Starts to look for hanging processes and to accept changes of the scale.
    private func watch(_ supervisor: Supervisor, _ postgres: PostgresServer) {
        hangs.start(state, address)
        supervisor.watch = hangs
        supervisor.onScale = { [unowned self] in
            do {
                for (service, count) in try ScaleRequest.read(state) {
                    try scale(service, to: count, supervisor, postgres)
                }
            } catch {
                log.note(
                    .error, "scale_not_changed", ["error": .string((error as? CommandError)?.message ?? "\(error)")])
            }
        }
    }

    private func scale(
        _ service: String, to count: Int, _ supervisor: Supervisor, _ postgres: PostgresServer
    ) throws {
        let running = supervisor.names
        for replica in 1...UpCommand.mostReplicas {
            let name = Self.name(service, replica)
            if replica <= count, !running.contains(name) {
                try supervisor.start(try program(service, postgres, replica))
            } else if replica > count, running.contains(name) {
                supervisor.dismiss(name)
            }
        }
    }

    /// The name of a replica's process: `auth`, `auth-2`.
    private static func name(_ service: String, _ replica: Int) -> String {
        replica == 1 ? service : "\(service)-\(replica)"
    }

    /// Supervises until a signal ends it.
    func run() {
        while turn() {}
    }

    /// Supervises once.
    ///
    /// - Returns: `false` after a signal to end.
    func turn() -> Bool {
        turns += 1
        // Check this once a second. If the database does not start, try again a second later.
        if turns % 10 == 0, let postgres, !postgres.isRunning { startAgain(postgres) }
        return supervisor?.turn() ?? false
    }

    private func startAgain(_ postgres: PostgresServer) {
        if trouble == nil { log.note(.error, "database_ended", ["log": .string(postgres.log)]) }
        do {
            // The supervisor does nothing else meanwhile.
            try postgres.start(within: 30)
            trouble = nil
            log.note(.info, "database_restarted", ["pid": postgres.process.map { .integer(Int64($0)) } ?? .null])
        } catch {
            let reason = (error as? CommandError)?.message ?? "\(error)"
            if trouble != reason { log.note(.error, "database_not_started", ["error": .string(reason)]) }
            trouble = reason
        }
    }

    func stop() {
        supervisor?.stopAll()
        do {
            try postgres?.stop()
        } catch {
            log.note(
                .error, "database_not_stopped", ["error": .string((error as? CommandError)?.message ?? "\(error)")])
        }
        unlink(state.runFile)
        if lock >= 0 { close(lock) }
    }

    private func waitUntilReady(_ supervisor: Supervisor) throws {
        let (client, end) = (try HTTPClient(address), Date().addingTimeInterval(60))
        while Date() < end {
            if (try? client.send("GET", "/readyz"))?.status == 200 { return }
            guard supervisor.turn(atMost: 0.05) else {
                throw CommandError("stopped before the system was ready", code: 130)
            }
            if let failure = supervisor.firstFailure {
                // If a program refuses its configuration, the command ends with the same exit code.
                throw CommandError("\(failure.line) (logs: \(state.logs))", code: failure.exitCode == 78 ? 78 : 1)
            }
        }
        throw CommandError.unavailable("the system was not ready within a minute: see the logs in \(state.logs)")
    }

    /// The variables that this type sets for the programs. They replace those of the environment.
    static let ownVariables = Set(
        ["BUS_BIND", "BUS_KEY_FILE", "BUS_ALLOWED", "SPOOL_DIR", "AUDIT_ANCHOR_FOLDER", "GATEWAY_HTTP"]
            + StateFolder.services.map(\.variablePrefix).flatMap {
                ["BUS_\($0)", "\($0)_DATABASE_URL", "\($0)_KEYS_FILE"]
            })

    /// The variables of the services that serve pictures: the address at which they listen, and the address before a
    /// picture's path.
    private static let pictureServers = [
        (listens: "VISUAL_PREFERENCE_HTTP", base: "VISUAL_PREFERENCE_IMAGES"),
        (listens: "VERIFICATION_HTTP", base: "VERIFICATION_MEDIA"),
    ]

    /// A program with the variables that it declares, and with all variables whose names begin with its name or with
    /// `VESTIBULE_`.
    private func program(_ name: String, _ postgres: PostgresServer, _ replica: Int) throws -> Supervisor.Program {
        var given = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        given["VESTIBULE_PROFILE"] = Self.profile
        given["BUS_BIND"] = "ipc:\(state.bus)"
        for service in StateFolder.services { given["BUS_\(service.variablePrefix)"] = "ipc:\(state.bus)" }
        given["BUS_KEY_FILE"] = BusKeyFolder(path: state.keys).secret(of: name)
        given["BUS_ALLOWED"] = BusKeyFolder(path: state.keys).list
        given["SPOOL_DIR"] = state.spool
        given["AUDIT_ANCHOR_FOLDER"] = state.audit
        given["GATEWAY_HTTP"] = address
        // In the other profiles, replicas share no port. So two services can never share one by mistake.
        let isDevelopment = Self.profile == "development"
        for (server, port) in zip(Self.pictureServers, ports) where given[server.listens] == nil {
            given[server.listens] = isDevelopment ? port.address : "127.0.0.1:0"
            if isDevelopment { given[server.base] = given[server.base] ?? "http://\(port.address)" }
        }
        given["VERIFICATION_BLOBS"] = given["VERIFICATION_BLOBS"] ?? "\(state.path)/pictures"
        given["VERIFICATION_KEY_STORE"] = given["VERIFICATION_KEY_STORE"] ?? "\(state.path)/picture-keys"
        if isDevelopment {
            given["GATEWAY_WEB_APP"] = given["GATEWAY_WEB_APP"] ?? "on"
            given["GATEWAY_WEB_APP_SOURCES"] =
                given["GATEWAY_WEB_APP_SOURCES"]
                ?? Self.pictureServers.compactMap { given[$0.base] }.joined(separator: ",")
            // A development system has no reviewers, so no person judges photos.
            given["VERIFICATION_JUDGE"] = given["VERIFICATION_JUDGE"] ?? "local"
        }
        if StateFolder.services.contains(name) {
            let prefix = name.variablePrefix
            given["\(prefix)_DATABASE_URL"] = try postgres.url(name.schemaName)
            given["\(prefix)_KEYS_FILE"] = state.keyRing(name)
        }
        var environment = [
            "PATH": given["PATH"] ?? "/usr/bin:/bin", "LANG": "C.UTF-8", "SWIFT_BACKTRACE": "registers=none",
        ]
        for variable in try Self.variables(of: name) {
            for key in [variable, "\(variable)_FILE"] { if let value = given[key] { environment[key] = value } }
        }
        // A misspelt variable must reach the program, which then refuses to start.
        for (key, value) in given where key.hasPrefix("\(name.variablePrefix)_") || key.hasPrefix("VESTIBULE_") {
            environment[key] = value
        }
        let process = Self.name(name, replica)
        return Supervisor.Program(
            name: process, arguments: [Self.program(of: name)], environment: environment, log: state.log(process))
    }

    /// The path of another program. All programs are in the same folder.
    static func binary(_ name: String) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }

    private static let knownVariables = Mutex<[String: [String]]>([:])

    /// The names of the variables that the program of a service or of the gateway reads. A start asks each program
    /// once.
    static func variables(of name: String) throws -> [String] {
        if let known = knownVariables.withLock({ $0[name] }) { return known }
        let names = try describedVariables(of: name).compactMap { $0["name"]?.stringValue }
        knownVariables.withLock { $0[name] = names }
        return names
    }

    /// The descriptions of the variables that the program of a service or of the gateway reads.
    static func describedVariables(of name: String) throws -> [JSONValue] {
        let text = try Subprocess.run([program(of: name), "--describe-config"])
        return try JSONValue.parse(Array(text.utf8)).arrayValue ?? []
    }

    private static func refuseUsedPort(_ text: String) throws {
        let client = try HTTPClient(text)
        var numeric = in_addr()
        // The gateway looks up no names.
        guard client.host == "localhost" || inet_pton(AF_INET, client.host, &numeric) == 1 else {
            throw CommandError.usage("\(text) is not an address: expected HOST:PORT with a numeric host")
        }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var reuse = Int32(1)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        guard let address = HTTPClient.addresses(client.host, client.port).first,
            HTTPClient.on(address, { bind(descriptor, $0, $1) }) == 0
        else {
            throw CommandError.unavailable(
                "cannot listen on \(text), which may be in use: choose another address with --http HOST:PORT")
        }
    }

    private static func write(_ children: [Supervisor.ProcessState], to state: StateFolder, address: String) {
        let processes = children.map { child -> JSONValue in
            [
                "name": .string(child.name), "pid": .integer(Int64(child.process)),
                "restarts": .integer(Int64(child.restarts)), "lastEnd": child.lastEnd?.json ?? .null,
                "waits": .bool(child.isWaiting), "hangs": .bool(child.hangs),
            ]
        }
        let run: JSONValue = [
            "pid": .integer(Int64(getpid())), "http": .string(address), "processes": .array(processes),
            "profile": .string(profile), "takesScale": true,
        ]
        let text = String(decoding: CanonicalJSON.bytes(of: run), as: UTF8.self)
        try? StateFolder.write(text, to: state.runFile, mode: 0o600)
    }
}
