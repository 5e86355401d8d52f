import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop

/// What a service is made from: names, variables, migrations, and how its parts are put together.
public struct ServiceBlueprint: Sendable {
    public var name: ServiceName
    /// Of its variables: `AUTH_`.
    public var prefix: String
    public var variables: [ConfigurationVariable]
    public var migrations: [Migration]
    /// Whom it asks over the bus.
    public var peers: [ServiceName]
    /// Registers handlers, deliverers and background work.
    public var assemble: @Loop @Sendable (ServiceHouse) throws -> Void

    public init(
        name: ServiceName, variables: [ConfigurationVariable], migrations: [Migration], peers: [ServiceName],
        assemble: @escaping @Loop @Sendable (ServiceHouse) throws -> Void
    ) {
        self.name = name
        prefix = name.rawValue.uppercased() + "_"
        self.variables = variables
        self.migrations = migrations
        self.peers = peers
        self.assemble = assemble
    }

    /// The service's own variables and those that every service has.
    public var allVariables: [ConfigurationVariable] {
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
        ]
    }
}

/// Variables that several programs read.
public enum CommonVariables {
    public static func everyProcess(peers: [ServiceName]) -> [ConfigurationVariable] {
        [
            .init(
                "VESTIBULE_PROFILE", .choice(DeploymentProfile.allCases.map(\.rawValue)),
                DeploymentProfile.unlessSaid.rawValue, "How strict to be"),
            .init("LOG_LEVEL", .choice(["debug", "info", "warning", "error"]), "info", "The least that is logged"),
            .init("APP_NAME", .text, "Vestibule", "The name of the app in messages to people"),
            .init(
                "METRICS_HTTP", .text, nil,
                "Where this process serves its own metrics, without a key: a numeric address and a port of an internal network"
            ),
            .init(
                "BUS_KEY", .text, nil, "The secret key of this program on the bus, as `vestibule keys` makes it",
                isSecret: true),
            .init(
                "BUS_ALLOWED", .text, nil,
                "Path of the list of public keys that may speak on the bus; a change holds within a second"),
        ] + peers.map { discovery($0) }
    }

    public static func discovery(_ service: ServiceName) -> ConfigurationVariable {
        .init(
            "BUS_\(service.rawValue.uppercased())", .text, nil,
            "Where \(service) is: ipc:/DIRECTORY, dns:HOST:PORT or tcp:// endpoints")
    }
}
