import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop

/// The parts of a service: its name, variables, migrations and assembly.
package struct ServiceDefinition: Sendable {
    /// The service's name on the bus. Its schema has the same name, without hyphens.
    package var name: ServiceName
    /// The prefix of the service's variables, such as `AUTH_`.
    package var prefix: String
    /// The service's own variables.
    package var variables: [ConfigurationVariable]
    /// The service's own migrations, in order.
    package var migrations: [Migration]
    /// The services that it calls over the bus.
    package var peers: [ServiceName]
    /// Whether the service has statistics over many people. A standby of its database may answer them.
    package var countsPeople: Bool
    /// Registers handlers, deliverers and background tasks.
    package var assemble: @Loop @Sendable (ServiceContainer) throws -> Void

    /// Takes the parts of the definition. The prefix follows from the name.
    package init(
        name: ServiceName, variables: [ConfigurationVariable], migrations: [Migration], peers: [ServiceName],
        countsPeople: Bool = false, assemble: @escaping @Loop @Sendable (ServiceContainer) throws -> Void
    ) {
        self.name = name
        prefix = name.identifier.uppercased() + "_"
        self.variables = variables
        self.migrations = migrations
        self.peers = peers
        self.countsPeople = countsPeople
        self.assemble = assemble
    }

    /// The service's own variables, and those of every service.
    package var allVariables: [ConfigurationVariable] {
        variables + CommonVariables.everyProcess(peers: peers) + [
            .init(
                "\(prefix)DATABASE_URL", .text, nil, "Connection string of the role that the service runs as",
                isSecret: true),
            .init(
                "\(prefix)DATABASE_OWNER_URL", .text, nil,
                "Connection string of the schema's owner, for --migrate only: a service that has it does not start",
                isSecret: true),
            .init("\(prefix)DATABASE_POOL", .integer(2...64), "16", "Connections to the database"),
            .init(
                "\(prefix)KEYS", .text, nil, "Key ring: a line `id base64` for each key, the current one first",
                isSecret: true),
            .init(
                "AUDIT_ANCHOR_FOLDER", .text, nil,
                "Folder outside of the database for each service's file of audit anchors; required outside development"),
            .init("BUS_BIND", .text, nil, "Where to listen: ipc:/DIRECTORY or tcp://ADDRESS:PORT"),
        ] + (countsPeople ? [standbys] : [])
    }

    private var standbys: ConfigurationVariable {
        .init(
            "\(prefix)STATISTICS_HOST", .text, nil,
            "Hosts that count people for statistics: a standby if there is one. Without it the service's database counts"
        )
    }
}
