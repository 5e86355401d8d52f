import BusProtocol
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProcessRuntime
@testable import ServiceRuntime

@Suite("Metrics on a port of their own") struct MetricsListenerTests {
    private static let definition = ServiceDefinition(
        name: .profile, variables: [], migrations: [], peers: [],
        assemble: { $0.ownGauges = { ["events_refused_day": 2, "a_later_one": 1] } })
    private static let anyPort = ["METRICS_HTTP": "127.0.0.1:0"]

    /// Where the replicas that log there serve their metrics.
    private static func ports(in log: LogBook) throws -> [Int] {
        try log.text.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
            .filter { $0["event"] == "metrics" }.compactMap { $0["port"]?.integerValue.map { Int($0) } }
    }

    private static func ask(_ method: String, _ path: String, at port: Int) async throws -> Exchange {
        try await Exchange(port: port, request: "\(method) \(path) HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    }

    @Test func eachReplicaReportsItsOwnMetrics() async throws {
        try await ServiceStage.run(Self.definition, replicas: 2, environment: Self.anyPort) { stage in
            let ports = try Self.ports(in: stage.log)
            #expect(ports.count == 2)
            for (container, port) in zip(stage.containers, ports) {
                let page = try await Self.ask("GET", "/metrics", at: port)
                #expect(page.status == 200 && page.headers["content-type"] == "text/plain; version=0.0.4")
                let origin = #"{service="profile",instance="\#(container.bus.configuration.instance)"}"#
                #expect(page.text.contains("vestibule_uptime_seconds\(origin) "))
                #expect(page.text.contains("vestibule_database_connections\(origin) "))
                let refused = #"vestibule_events_refused_total\#(origin.dropLast()),reason="day"} 2"#
                #expect(page.text.contains(refused) && !page.text.contains("a_later_one"))
            }
            #expect(try await Self.ask("GET", "/", at: ports[0]).status == 404)
            #expect(try await Self.ask("POST", "/metrics", at: ports[0]).status == 405)
        }
    }

    @Test func metricsStayVisibleWithoutTheDatabase() async throws {
        try await Loop.spawn { try await Self.askWithoutADatabase() }.value
    }

    @Loop private static func askWithoutADatabase() async throws {
        let (folder, log) = (try ScratchFolder(), LogBook())
        let keys = try BusKeys(in: folder.path)
        let environment = [
            "BUS_BIND": "ipc:\(folder.path)", "BUS_KEY": keys.secret(of: .profile), "BUS_ALLOWED": keys.list,
            "PROFILE_DATABASE_URL": "host=\(folder.path) dbname=nobody user=nobody",
            "PROFILE_KEYS": KeyRing.generate(id: "test"),
            "METRICS_HTTP": "127.0.0.1:0", "VESTIBULE_PROFILE": "development",
        ]
        let container = try ServiceContainer(definition, environment: environment, logSink: { log.append($0) })
        try await container.start()
        let page = try await ask("GET", "/metrics", at: try #require(try ports(in: log).first))
        #expect(page.text.contains("vestibule_database_connections{"))
        await container.stop(notice: .zero)
    }

    @Test func productionRefusesAnUnauthenticatedDatabase() async throws {
        let folder = try ScratchFolder()
        let keys = try await BusKeys(in: folder.path)
        let environment = [
            "BUS_BIND": "ipc:\(folder.path)", "BUS_KEY": await keys.secret(of: .profile),
            "BUS_ALLOWED": await keys.list, "PROFILE_DATABASE_URL": "host=db.example dbname=vestibule",
            "PROFILE_KEYS": KeyRing.generate(id: "test"),
            "AUDIT_ANCHOR_FOLDER": folder.path, "VESTIBULE_PROFILE": "production",
        ]
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await ServiceContainer(Self.definition, environment: environment, logSink: { _ in })
        }
        #expect(error?.description.hasPrefix("PROFILE_DATABASE_URL must say sslmode=verify-full") == true)
    }

    @Test func aMalformedAddressIsNamed() throws {
        let configuration = try Configuration(
            variables: CommonVariables.everyProcess(peers: []), prefix: "PROFILE_",
            environment: ["METRICS_HTTP": "9100"])
        #expect(throws: ConfigurationError("METRICS_HTTP must be ADDRESS:PORT")) {
            _ = try configuration.address("METRICS_HTTP")
        }
    }
}
