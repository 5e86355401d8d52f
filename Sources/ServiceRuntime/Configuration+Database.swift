import BusRuntime
import Database
import EventLoop
import Values

extension Configuration {
    /// The connection string in a variable. In production, a connection over a network must verify the server and be
    /// encrypted.
    package func connectionString(_ name: String) throws(ConfigurationError) -> String {
        let connectionString = try text(name)
        guard profile != .production || !DatabaseConfiguration.isOpenToTheNetwork(connectionString) else {
            throw ConfigurationError("\(name) must say sslmode=verify-full: its host is reached over a network")
        }
        return connectionString
    }
}

extension Configuration {
    /// The configuration of a service's bus.
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

    /// The configuration of the database of one replica.
    func database(
        of definition: ServiceDefinition, for replica: Identifier
    ) throws(ConfigurationError) -> DatabaseConfiguration {
        let poolSize = Int(try integer("\(definition.prefix)DATABASE_POOL"))
        return DatabaseConfiguration(
            connectionString: try connectionString("\(definition.prefix)DATABASE_URL"),
            schema: definition.name.identifier, poolSize: poolSize,
            applicationName: ConnectionDemand.name(
                "\(definition.name)-\(replica.description.suffix(8))", poolSize: poolSize))
    }

    /// The configuration of the standby that counts people for one replica's statistics; `nil` if there is none.
    func standby(
        of definition: ServiceDefinition, for replica: Identifier
    ) throws(ConfigurationError) -> DatabaseConfiguration? {
        let name = "\(definition.prefix)STATISTICS_HOST"
        guard definition.countsPeople, let hosts = optionalText(name) else { return nil }
        var database = try database(of: definition, for: replica)
        database.standbys = hosts
        let (text, ofService) = (database.connectionString, "\(definition.prefix)DATABASE_URL")
        guard !DatabaseConfiguration.hasAddress(text) else {
            throw ConfigurationError("\(ofService) must have no hostaddr, which would come before \(name)")
        }
        guard profile != .production || !DatabaseConfiguration.isOpenToTheNetwork(text, standbys: hosts) else {
            throw ConfigurationError("\(ofService) must say sslmode=verify-full, also for the hosts of \(name)")
        }
        // Few people look at statistics, and each look costs the database a lot.
        database.poolSize = 3
        database.applicationName = ConnectionDemand.name(
            "\(definition.name)-\(replica.description.suffix(8))-statistics", poolSize: database.poolSize)
        return database
    }
}

extension ServiceDefinition {
    /// Refuses the owner's connection string in a running service. With it, an intruder could switch off the triggers
    /// of the audit trail.
    func refuseOwner(_ environment: [String: String]) throws(ConfigurationError) {
        let name = "\(prefix)DATABASE_OWNER_URL"
        guard let given = [name, "\(name)_FILE"].first(where: { environment[$0]?.isEmpty == false }) else { return }
        throw ConfigurationError(
            "\(given) is for migrations only, and a running service must not have it: "
                + "run vestibule migrate with it, then start the service without it")
    }
}
