import Database
import EventLoop

/// Brings a service's schema up to date, and ends: the only program that has the connection string of the schema's owner.
/// It needs that of the service's own role beside it, for its name.
enum MigrateCommand {
    /// - Returns: what to print, a line.
    /// - Throws: ``ConfigurationError`` or ``MigrationError``.
    static func run(_ blueprint: ServiceBlueprint, environment: [String: String]) async throws -> String {
        let configuration = try Configuration(
            variables: blueprint.allVariables, prefix: blueprint.prefix, environment: environment)
        let runtime = DatabaseConfiguration.role(in: try configuration.text("\(blueprint.prefix)DATABASE_URL"))
        let anchors = AuditAnchorFile(blueprint, configuration)?.read().runs ?? []
        let (applied, newer) = try await Migrator.run(
            owner: try configuration.connectionString("\(blueprint.prefix)DATABASE_OWNER_URL"),
            schema: blueprint.name.rawValue, runtimeRole: runtime, migrations: blueprint.migrations,
            mayBegin: anchors.isEmpty)
        let unknown = newer.isEmpty ? "" : "; of a newer release and left alone: \(newer.joined(separator: ", "))"
        return applied.isEmpty
            ? "\(blueprint.name): up to date\(unknown)"
            : "\(blueprint.name): applied \(applied.joined(separator: ", "))"
    }
}
