import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import HTTPServer
import JSONText
import ProcessRuntime

/// The entry point of the gateway: checks arguments, reads the configuration, handles signals and drains at the end.
@main enum GatewayMain {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        ServiceProcess.refuseUnknown(arguments, known: ["--describe-config", "--check-config", "--openapi"])
        if arguments.contains("--describe-config") {
            return ServiceProcess.describe(GatewayConfiguration.variables)
        }
        if arguments.contains("--check-config") {
            return ServiceProcess.check(GatewayConfiguration.variables, prefix: "GATEWAY_")
        }
        if arguments.contains("--openapi") {
            let document = OpenAPIDocument(table: .vestibule, exportSchema: ExportDocument.schema)
            return print(String(decoding: CanonicalJSON.bytes(of: document.value()), as: UTF8.self))
        }
        do {
            let process = try await GatewayProcess(environment: ProcessInfo.processInfo.environment)
            let stop = await StopSignal()
            try await process.start()
            await stop.wait()
            await process.stop()
            ServiceProcess.end(0)
        } catch {
            ServiceProcess.fail("gateway: \(error)")
        }
    }
}

/// A gateway configured by environment variables.
@Loop final class GatewayProcess {
    private let server: GatewayServer
    private let log: Log
    private let metrics: MetricsListener?

    /// - Throws: ``ConfigurationError``.
    init(environment: [String: String]) throws {
        let values = try Configuration(
            variables: GatewayConfiguration.variables, prefix: "GATEWAY_", environment: environment)
        var bus = BusConfiguration(service: .gateway)
        let security = try values.busSecurity()
        bus.security = security
        bus.peers = try values.discoveries(of: ServiceName.services)
        let level = Log.Level(rawValue: try values.text("LOG_LEVEL")) ?? .info
        let log = Log(service: .gateway, instance: bus.instance, threshold: level)
        self.log = log
        security.onProblem = { log.error("bus_keys", ["problem": .string($0)]) }
        var limits = HTTPLimits()
        limits.connections = min(limits.connections, max(64, Self.mostOpenFiles() - 256))
        let server = GatewayServer(try GatewayConfiguration(values), bus: Bus(bus), limits: limits)
        self.server = server
        metrics = try MetricsListener(values) {
            let page = server.ownMetrics
            return { page.bytes }
        }
        server.onAnswer = { Self.record($0, in: log) }
    }

    func start() throws {
        try metrics?.start()
        if let metrics { log.info("metrics", ["port": .integer(Int64(metrics.port))]) }
        try server.bus.start()
        try server.start()
        log.info("listening", ["port": .integer(Int64(server.boundPort))])
    }

    func stop() async {
        log.info("draining")
        await server.drain()
        server.bus.stop()
        await metrics?.stop()
        log.info("stopped")
    }

    /// Raises the soft limit of open files, since each client needs a file descriptor and the usual soft limit is 1024.
    ///
    /// - Returns: the limit that holds now.
    private static func mostOpenFiles() -> Int {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(kind, &limit) == 0 else { return 1024 }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        setrlimit(kind, &limit)
        getrlimit(kind, &limit)
        return Int(limit.rlim_cur)
    }

    private static func record(_ record: RequestRecord, in log: Log) {
        // Monitors ask for health every second. At the level `info`, these records would hide all others.
        let isProbe = record.route == "/healthz" || record.route == "/readyz"
        switch record.status {
        case 500...: log.warning("request", fields(of: record), trace: record.trace)
        case _ where isProbe: log.debug("request", fields(of: record), trace: record.trace)
        default: log.info("request", fields(of: record), trace: record.trace)
        }
    }

    private static func fields(of record: RequestRecord) -> [String: JSONValue] {
        let elapsed = record.began.map { Int64((MonotonicClock.now() - $0) / 1000) }
        return [
            "method": record.knownMethod.map { .string($0) } ?? .null,
            "route": record.route.map { .string($0) } ?? .null,
            "status": .integer(Int64(record.status)), "microseconds": elapsed.map { .integer($0) } ?? .null,
        ]
    }
}
