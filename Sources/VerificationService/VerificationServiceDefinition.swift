import BusProtocol
import EventLoop
import ServiceRuntime

@main enum VerificationMain {
    static func main() async { await ServiceProcess.main(VerificationServiceDefinition.definition) }
}

/// Assembles the service of photos and verification.
enum VerificationServiceDefinition {
    static let definition = ServiceDefinition(
        name: .verification, variables: variables, migrations: VerificationMigrations.all, peers: [.profile],
        assemble: assemble)

    private static let variables: [ConfigurationVariable] = []

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        container.handle(ExportVerificationHandler(export: container.export))
        container.handle(AccountDeletedHandler(container: container) { _, _ in })
    }
}
