import Database
import EventLoop

/// Migrates a service's schema. Only this program gets the connection string of the schema's owner.
///
/// It also needs the connection string of the service's own role, to read the role's name.
enum MigrateCommand {
    /// - Returns: the line to print.
    /// - Throws: ``ConfigurationError`` or ``MigrationError``.
    static func run(_ definition: ServiceDefinition, environment: [String: String]) async throws -> String {
        let configuration = try Configuration(
            variables: definition.allVariables, prefix: definition.prefix, environment: environment)
        let runtime = DatabaseConfiguration.role(in: try configuration.text("\(definition.prefix)DATABASE_URL"))
        let anchors = AuditAnchorFile(definition, configuration)?.read().runs ?? []
        let (applied, newer) = try await Migrator.run(
            owner: try configuration.connectionString("\(definition.prefix)DATABASE_OWNER_URL"),
            schema: definition.name.identifier, runtimeRole: runtime, migrations: definition.migrations,
            mayBegin: anchors.isEmpty)
        let unknown = newer.isEmpty ? "" : "; of a newer release and left alone: \(newer.joined(separator: ", "))"
        return applied.isEmpty
            ? "\(definition.name): up to date\(unknown)"
            : "\(definition.name): applied \(applied.joined(separator: ", "))"
    }
}
