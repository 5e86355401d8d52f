import BusProtocol
import BusRuntime
import EventLoop

/// Checks the health of the replica that runs with the same configuration, for an orchestrator. It asks over the bus
/// like any other caller.
///
/// A replica becomes healthy when it is ready. From then on it is healthy while it answers, even without its database.
/// It needs no restart then, because it becomes ready again by itself. `docker compose up --wait` fails at once on an
/// unhealthy container.
enum ReadyCheck {
    /// The gauge that is above 0 if the replica has been ready since it started.
    static let gauge = "was_ready"

    /// - Returns: true as soon as the replica says that it is or was ready; false after two seconds.
    /// - Throws: ``ConfigurationError`` if the replica does not listen on a TCP port. Several replicas can share a
    ///   folder of sockets.
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

    /// Returns the address to ask. A replica that listens on every address also listens on the loopback address.
    static func endpoint(bound: String) throws(ConfigurationError) -> String {
        guard bound.hasPrefix("tcp://") else {
            throw ConfigurationError("BUS_BIND: only a replica that listens at tcp:// can be asked whether it is ready")
        }
        return bound.replacing("//0.0.0.0:", with: "//127.0.0.1:").replacing("//[::]:", with: "//[::1]:")
    }
}
