import BusProtocol
import BusRuntime
import EventLoop

/// Whether the replica that listens with a program's own configuration takes requests: what an orchestrator asks of each
/// container. It is asked over the bus, as any caller would.
enum ReadyCheck {
    /// - Returns: true as soon as the replica says that it is ready, false after two seconds without that.
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
