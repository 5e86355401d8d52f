import BusRuntime
import Database
import EventLoop

extension Configuration {
    /// How PostgreSQL is reached. In production nobody on the way may read along or answer in its place.
    public func connectionString(_ name: String) throws(ConfigurationError) -> String {
        let connectionString = try text(name)
        guard profile != .production || !DatabaseConfiguration.isOpenToTheNetwork(connectionString) else {
            throw ConfigurationError("\(name) must say sslmode=verify-full: its host is reached over a network")
        }
        return connectionString
    }
}

extension Configuration {
    /// How a service's bus is set up.
    @Loop func bus(of definition: ServiceDefinition) throws -> BusConfiguration {
        var bus = BusConfiguration(service: definition.name)
        bus.security = try busSecurity()
        bus.peers = try discoveries(of: definition.peers)
        bus.bind = [try endpoint(text("BUS_BIND"), bus)]
        return bus
    }

    private func endpoint(_ text: String, _ bus: BusConfiguration) throws(ConfigurationError) -> String {
        guard text.hasPrefix("ipc:"), !text.hasPrefix("ipc://") else { return text }
        do throws(Discovery.ParseError) {
            return try bus.endpoint(inDirectory: String(text.dropFirst(4)))
        } catch {
            throw ConfigurationError("BUS_BIND: \(error.description)")
        }
    }

    /// How a service reaches its tables.
    func database(of definition: ServiceDefinition) throws(ConfigurationError) -> DatabaseConfiguration {
        DatabaseConfiguration(
            connectionString: try connectionString("\(definition.prefix)DATABASE_URL"),
            schema: definition.name.rawValue,
            poolSize: Int(try integer("\(definition.prefix)DATABASE_POOL")),
            applicationName: "vestibule-\(definition.name)")
    }
}

extension ServiceDefinition {
    /// Whoever breaks into a service must not find there what can switch off the triggers of the audit trail.
    func refuseOwner(_ environment: [String: String]) throws(ConfigurationError) {
        let name = "\(prefix)DATABASE_OWNER_URL"
        guard let given = [name, "\(name)_FILE"].first(where: { environment[$0]?.isEmpty == false }) else { return }
        throw ConfigurationError(
            "\(given) is for migrations only, and a running service must not have it: "
                + "run vestibule migrate with it, then start the service without it")
    }
}
