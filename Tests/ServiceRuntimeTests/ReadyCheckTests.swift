import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("Whether a replica is ready") struct ReadyCheckTests {
    private static let definition = ServiceDefinition(
        name: .profile, variables: [], migrations: [], peers: [], assemble: { _ in })

    /// A port that the system chose, so that nobody else has it.
    private static let anyPort = "tcp://127.0.0.1:*"

    @Test func aReplicaWithADatabaseIsReady() async throws {
        try await ServiceStage.run(Self.definition, environment: ["BUS_BIND": Self.anyPort]) { stage in
            let endpoint = try #require(stage.containers[0].bus.endpoint)
            #expect(try await eventually { try await Self.check(endpoint, stage.keys) })
        }
    }

    /// A rollback leaves the schema like this.
    @Test func aReplicaWithANewerSchemaIsReady() async throws {
        try await ServiceStage.run(Self.definition, environment: ["BUS_BIND": Self.anyPort]) { stage in
            _ = try await stage.rows("INSERT INTO schema_migrations (name, checksum) VALUES ('m9999_later', 'x')")
            try await stage.replaceReplicas(by: stage.environment)
            let endpoint = try #require(stage.containers[0].bus.endpoint)
            #expect(try await eventually { try await Self.check(endpoint, stage.keys) })
            let line = stage.log.text.split(separator: "\n").first { $0.contains("schema_is_newer") }
            #expect(line?.contains(#""unknown":["m9999_later"]"#) == true)
        }
    }

    @Test func aReplicaWithAnOldSchemaIsNotReadyUntilMigrated() async throws {
        try await ServiceStage.run(Self.definition, replicas: 0, environment: ["BUS_BIND": Self.anyPort]) { stage in
            let last = "m0000_runtime_clock_marks"
            let sum = try await stage.rows("DELETE FROM schema_migrations WHERE name = '\(last)' RETURNING checksum")
            let bus = try await stage.addReplica().bus
            #expect(try await eventually { stage.log.text.contains("schema_too_old") })
            #expect(try await Self.check(try #require(bus.endpoint), stage.keys) == false)
            #expect(bus.state == .starting && bus.report.gauges?["schema_missing"] == 1)
            try await stage.rows("INSERT INTO schema_migrations (name, checksum) VALUES ('\(last)', '\(sum)')")
            try await stage.untilReady()
            let lines = stage.log.text.split(separator: "\n").filter { $0.contains("schema_too_old") }
            #expect(lines.count == 1 && lines[0].contains(#""missing":["\#(last)"]"#))
            #expect(lines[0].contains(#""remedy":"vestibule migrate""#))
        }
    }

    @Test("a replica that loses its tables is not ready", arguments: ["TABLE inbox", "SCHEMA profile"])
    func lostTables(what: String) async throws {
        try await ServiceStage.run(Self.definition, environment: ["BUS_BIND": Self.anyPort]) { stage in
            try await stage.untilReady()
            try await stage.rows("DROP \(what) CASCADE")
            #expect(try await eventually { stage.containers[0].bus.state == .starting })
            let event = what.hasPrefix("TABLE") ? "tables_missing" : "schema_too_old"
            #expect(stage.log.text.contains(event) && stage.log.text.contains("not_ready"))
        }
    }

    @Test func aReplicaThatWasReadyStaysHealthyWhileItMissesItsTables() async throws {
        try await ServiceStage.run(Self.definition, environment: ["BUS_BIND": Self.anyPort]) { stage in
            try await stage.untilReady()
            let bus = stage.containers[0].bus
            let endpoint = try #require(bus.endpoint)
            try await stage.rows("ALTER SCHEMA profile RENAME TO away")
            #expect(try await eventually { bus.state == .starting })
            #expect(try await Self.check(endpoint, stage.keys))
            bus.stop()
            #expect(try await Self.check(endpoint, stage.keys) == false)
        }
    }

    @Test(arguments: ["PROFILE_DATABASE_OWNER_URL", "PROFILE_DATABASE_OWNER_URL_FILE"])
    func aServiceDoesNotStartWithItsSchemaOwnersPassword(name: String) async throws {
        try await ServiceStage.run(Self.definition, replicas: 0) { stage in
            let owner = name.hasSuffix("_FILE") ? "/etc/hostname" : stage.owner
            let error = await #expect(throws: ConfigurationError.self) {
                try await stage.replaceReplicas(by: stage.environment.merging([name: owner]) { $1 })
            }
            #expect(error?.description.hasPrefix("\(name) is for migrations only") == true)
        }
    }

    @Test func aStartingReplicaIsNotReady() async throws {
        try await Loop.spawn { try await Self.askAReplicaThatStarts() }.value
    }

    @Loop private static func askAReplicaThatStarts() async throws {
        let folder = try ScratchFolder()
        let keys = try BusKeys(in: folder.path)
        var configuration = BusConfiguration(service: .profile, bind: [anyPort])
        configuration.security = try keys.security(of: .profile)
        let bus = Bus(configuration)
        try bus.start()
        defer { bus.stop() }
        let endpoint = try #require(bus.endpoint)
        #expect(try await check(endpoint, keys) == false)
    }

    @Test func aFolderOfSocketsHasNoReadyCheck() async throws {
        await #expect(throws: ConfigurationError.self) {
            let folder = try ScratchFolder()
            _ = try await Self.check("ipc:/run/bus", BusKeys(in: folder.path))
        }
    }

    @Test(arguments: [
        ("tcp://0.0.0.0:7001", "tcp://127.0.0.1:7001"), ("tcp://[::]:7001", "tcp://[::1]:7001"),
        ("tcp://10.0.0.1:7001", "tcp://10.0.0.1:7001"),
    ])
    func aReplicaBoundToAllAddressesIsAskedLocally(bound: String, asked: String) throws {
        #expect(try ReadyCheck.endpoint(bound: bound) == asked)
    }

    @Loop private static func check(_ bind: String, _ keys: BusKeys) async throws -> Bool {
        try await ReadyCheck.run(
            definition,
            environment: ["BUS_BIND": bind, "BUS_KEY": keys.secret(of: definition.name), "BUS_ALLOWED": keys.list])
    }
}
