import BusProtocol
import BusRuntime
import EventLoop

/// The health of the replica that listens with a program's own configuration: what an orchestrator asks of each container. It
/// is asked over the bus, as any caller would.
///
/// A replica becomes healthy when it is ready. From then on it is healthy while it answers, even if its database is away: it
/// needs no restart, and it is ready again by itself. `docker compose up --wait` fails at once on an unhealthy container.
enum ReadyCheck {
    /// Above 0 where the replica has been ready since it started.
    static let gauge = "was_ready"

    /// - Returns: true as soon as the replica says that it is or was ready, false after two seconds without that.
    /// - Throws: ``ConfigurationError`` where it listens at no port: a folder of sockets is not one replica's.
    @Loop static func run(_ definition: ServiceDefinition, environment: [String: String]) async throws -> Bool {
        let configuration = try Configuration(
            variables: definition.allVariables, prefix: definition.prefix, environment: environment)
        let endpoint = try endpoint(bound: try configuration.text("BUS_BIND"))
        var asking = BusConfiguration(service: definition.name, peers: [definition.name: .endpoints([endpoint])])
        asking.security = try configuration.busSecurity()
        let bus = Bus(asking)
        try bus.start()
        defer { bus.stop() }
        let end = MonotonicClock.now() + Duration.seconds(2).nanoseconds
        while !bus.hasReadyReplica(of: definition.name) {
            let reports = await bus.reports(of: definition.name, within: .milliseconds(200))
            if reports.contains(where: { $0.1?.gauges?[gauge] ?? 0 > 0 }) { return true }
            guard MonotonicClock.now() < end else { return false }
            try await Loop.sleep(for: .milliseconds(10))
        }
        return true
    }

    /// Who listens at every address listens at this machine's own.
    static func endpoint(bound: String) throws(ConfigurationError) -> String {
        guard bound.hasPrefix("tcp://") else {
            throw ConfigurationError("BUS_BIND: only a replica that listens at tcp:// can be asked whether it is ready")
        }
        return bound.replacing("//0.0.0.0:", with: "//127.0.0.1:").replacing("//[::]:", with: "//[::1]:")
    }
}
