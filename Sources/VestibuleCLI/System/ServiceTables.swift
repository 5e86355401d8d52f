import Foundation
import JSONText
import Synchronization

/// The tables of one service, as its own program reaches them for an operator: with a connection string, and beside the
/// replicas, whether any runs or not.
struct ServiceTables: Sendable {
    let service: String
    private let environment: [String: String]
    /// The schema's owner's connection string, for migrations only, where the environment does not have it anyway.
    private var owner: [String: String] = [:]

    private init(service: String, environment: [String: String], owner: [String: String] = [:]) {
        (self.service, self.environment, self.owner) = (service, environment, owner)
    }

    /// Runs a body on every service that can be known from here.
    ///
    /// - Parameter given: a state folder. Without one, the services whose connection string the environment has, as in a
    ///   service's container; where it has none, the usual state folder.
    static func each<Value>(state given: String?, _ body: ([ServiceTables]) throws -> Value) throws -> Value {
        let all = ProcessInfo.processInfo.environment
        let named = StateFolder.services.filter { service in
            ["", "_FILE"].contains { all["\(service.uppercased())_DATABASE_URL\($0)"] != nil }
        }
        if given == nil, !named.isEmpty {
            return try body(named.map { ServiceTables(service: $0, environment: all) })
        }
        return try inFolder(try StateFolder(given, create: false), body)
    }

    /// What a body gives for each service, in their order. All are asked at once, each by a thread of its own, so that
    /// those that cannot be reached keep nobody waiting for longer than one does.
    static func together<Value: Sendable>(
        _ all: [ServiceTables], _ body: @escaping @Sendable (ServiceTables) throws -> Value
    ) -> [Result<Value, any Error>] {
        let (answers, done) = (Answers<Value>(), DispatchGroup())
        for (index, tables) in all.enumerated() {
            done.enter()
            Thread.detachNewThread {
                let result = Result { try body(tables) }
                answers.byPlace.withLock { $0[index] = result }
                done.leave()
            }
        }
        done.wait()
        return answers.byPlace.withLock { answers in all.indices.compactMap { answers[$0] } }
    }

    private final class Answers<Value: Sendable>: Sendable {
        let byPlace = Mutex<[Int: Result<Value, any Error>]>([:])
    }

    private static func inFolder<Value>(_ state: StateFolder, _ body: ([ServiceTables]) throws -> Value) throws -> Value
    {
        guard FileManager.default.fileExists(atPath: state.keys) else {
            throw CommandError.unavailable("no system was ever started from \(state.path): see --state")
        }
        let postgres = try PostgresServer(state)
        let tables = try all(in: state, postgres)
        guard !state.isInUse else { return try body(tables) }
        // Nothing runs: the database does for as long as it is asked, and nobody else starts it meanwhile.
        let lock = try state.lock()
        defer { close(lock) }
        try postgres.start()
        defer { postgres.stop() }
        return try body(tables)
    }

    static func all(in state: StateFolder, _ postgres: PostgresServer) throws -> [ServiceTables] {
        try StateFolder.services.map { service in
            let prefix = service.uppercased()
            var environment = [
                "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "\(prefix)_DATABASE_URL": try postgres.url(service),
                "AUDIT_ANCHOR_FOLDER": state.audit,
            ]
            // Made behind the tables, so not there yet where these are migrated for the first time.
            if state.hasData(of: service) { environment["\(prefix)_KEYS_FILE"] = state.keyRing(service) }
            return ServiceTables(
                service: service, environment: environment,
                owner: ["\(prefix)_DATABASE_OWNER_URL": try postgres.url("\(service)_owner")])
        }
    }

    /// Brings the schema up to date.
    ///
    /// - Returns: what came of it, a line.
    @discardableResult
    func migrate() throws -> String { try run("--migrate", [], as: owner).joined(separator: "\n") }

    /// What was given up, the oldest first, each with the name of the service.
    func deadLetters() throws -> [JSONValue] { try named(run("--dead-letters", [])) }

    /// Puts dead letters back.
    ///
    /// - Parameter ids: of any service, or `all`.
    /// - Returns: the ids of those that were this service's, and dead.
    func replay(_ ids: [String]) throws -> [String] { try run("--dead-letters", ["replay"] + ids) }

    /// Reads the whole audit trail: first what was counted, then each finding, all with the name of the service.
    func verifyAudit() throws -> [JSONValue] { try named(run("--audit", ["verify"])) }

    private func named(_ lines: [String]) throws -> [JSONValue] {
        try lines.map { line in
            var members = try JSONValue.parse(Array(line.utf8)).objectValue ?? [:]
            members["service"] = .string(service)
            return .object(members)
        }
    }

    private func run(_ option: String, _ words: [String], as owner: [String: String] = [:]) throws -> [String] {
        let program = LocalSystem.binary(LocalSystem.programs[service] ?? service)
        let text = try Subprocess.run(
            [program, option] + words, environment: environment.merging(owner) { $1 })
        return text.split(separator: "\n").map(String.init)
    }
}
