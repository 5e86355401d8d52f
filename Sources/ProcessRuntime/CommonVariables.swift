import BusProtocol

/// Variables that several programs read.
package enum CommonVariables {
    /// The variables of every program.
    ///
    /// - Parameter peers: the services that the program calls.
    package static func everyProcess(peers: [ServiceName]) -> [ConfigurationVariable] {
        [
            .init(
                "VESTIBULE_PROFILE", .choice(DeploymentProfile.allCases.map(\.rawValue)),
                DeploymentProfile.unlessSaid.rawValue, "How strict the checks at the start are"),
            .init(
                "LOG_LEVEL", .choice(["debug", "info", "warning", "error"]), "info", "The lowest level that is logged"),
            .init("APP_NAME", .text, "Vestibule", "The name of the app in messages to people"),
            .init(
                "METRICS_HTTP", .text, nil,
                "Where this process serves its own metrics, without authentication: a numeric address and a port of an internal network"
            ),
            .init(
                "BUS_KEY", .text, nil, "The secret bus key of this program, made by `vestibule keys`",
                isSecret: true),
            .init(
                "BUS_ALLOWED", .text, nil,
                "Path of the list of public keys that are allowed on the bus; a change takes effect within a second"),
        ] + peers.map { discovery($0) }
    }

    /// The variable with the way to find a service.
    package static func discovery(_ service: ServiceName) -> ConfigurationVariable {
        .init(
            "BUS_\(service.identifier.uppercased())", .text, nil,
            "Where to find \(service): ipc:/DIRECTORY, dns:HOST:PORT or tcp:// endpoints")
    }
}
