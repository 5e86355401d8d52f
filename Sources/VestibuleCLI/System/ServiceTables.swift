import Foundation
import JSONText

/// The tables of one service. It runs the service's own program to work on them, whether replicas run or not.
struct ServiceTables: Sendable {
    let service: String
    private let environment: [String: String]
    /// The connection string of the schema's owner, for migrations. It is empty if the environment already has it.
    private var owner: [String: String] = [:]

    private init(service: String, environment: [String: String], owner: [String: String] = [:]) {
        (self.service, self.environment, self.owner) = (service, environment, owner)
    }

    /// Runs a body on the tables of every service whose database is reachable from here.
    ///
    /// - Parameter given: a state folder. If it is `nil`, the services are the ones whose connection string the
    ///   environment has, as in a container. If the environment has none, this uses the default state folder.
    static func each<Value>(state given: String?, _ body: ([ServiceTables]) throws -> Value) throws -> Value {
        let all = ProcessInfo.processInfo.environment
        let named = StateFolder.services.filter { service in
            ["", "_FILE"].contains { all["\(service.variablePrefix)_DATABASE_URL\($0)"] != nil }
        }
        if given == nil, !named.isEmpty {
            return try body(named.map { ServiceTables(service: $0, environment: all) })
        }
        return try inFolder(try StateFolder(given, create: false), body)
    }

    private static func inFolder<Value>(_ state: StateFolder, _ body: ([ServiceTables]) throws -> Value) throws -> Value
    {
        guard FileManager.default.fileExists(atPath: state.keys) else {
            throw CommandError.unavailable("no system was ever started from \(state.path): see --state")
        }
        let postgres = try PostgresServer(state)
        let tables = try all(in: state, postgres)
        guard !state.isInUse else { return try body(tables) }
        // No system runs, so start the database for the body only. The lock keeps others from starting it meanwhile.
        let lock = try state.lock()
        defer { close(lock) }
        try postgres.start()
        defer { try? postgres.stop() }
        return try body(tables)
    }

    static func all(in state: StateFolder, _ postgres: PostgresServer) throws -> [ServiceTables] {
        try StateFolder.services.map { service in
            let prefix = service.variablePrefix
            var environment = [
                "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
                "\(prefix)_DATABASE_URL": try postgres.url(service.schemaName),
                "AUDIT_ANCHOR_FOLDER": state.audit,
            ]
            // A start makes the key ring after the tables, so it is missing at the first migration.
            if state.hasData(of: service) { environment["\(prefix)_KEYS_FILE"] = state.keyRing(service) }
            return ServiceTables(
                service: service, environment: environment,
                owner: ["\(prefix)_DATABASE_OWNER_URL": try postgres.url("\(service.schemaName)_owner")])
        }
    }

    /// Migrates the schema.
    ///
    /// - Returns: the output of the service's program.
    @discardableResult
    func migrate() throws -> String { try run("--migrate", [], as: owner).joined(separator: "\n") }

    /// The dead letters, the oldest first, each with the name of the service.
    func deadLetters() throws -> [JSONValue] { try named(run("--dead-letters", [])) }

    /// Puts dead letters back into the outbox.
    ///
    /// - Parameter ids: the ids, also of other services' dead letters, or `all`.
    /// - Returns: the ids of this service's dead letters that were put back.
    func replay(_ ids: [String]) throws -> [String] { try run("--dead-letters", ["replay"] + ids) }

    /// Verifies the whole audit trail.
    ///
    /// - Returns: the counts, then each finding, all with the name of the service.
    func verifyAudit() throws -> [JSONValue] { try named(run("--audit", ["verify"])) }

    private func named(_ lines: [String]) throws -> [JSONValue] {
        try lines.map { line in
            var members = try JSONValue.parse(Array(line.utf8)).objectValue ?? [:]
            members["service"] = .string(service)
            return .object(members)
        }
    }

    private func run(_ option: String, _ words: [String], as owner: [String: String] = [:]) throws -> [String] {
        let program = LocalSystem.program(of: service)
        let text = try Subprocess.run(
            [program, option] + words, environment: environment.merging(owner) { $1 })
        return text.split(separator: "\n").map(String.init)
    }
}
