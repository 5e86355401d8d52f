import EventLoop
import Foundation

extension ServiceProcess {
    /// Runs a service's program and ends the process. Every `@main` calls it.
    ///
    /// - `--describe-config` prints the variables as JSON.
    /// - `--check-config` prints each mistake in the environment.
    /// - `--migrate` migrates the schema as its owner.
    /// - `--ready` asks the replica that runs with the same environment. The exit code is 0 if the replica answers and
    ///   has been ready since it started, otherwise 1.
    /// - `--dead-letters` prints each dead letter as a line of JSON. `--dead-letters replay`, with IDs or `all`, puts
    ///   dead letters back into the outbox and prints their IDs.
    /// - `--audit verify` verifies the audit trail and prints the result as lines of JSON.
    package static func main(_ definition: ServiceDefinition) async -> Never {
        let arguments = CommandLine.arguments.dropFirst()
        // These two commands check their own arguments.
        if arguments.first != "--dead-letters", arguments.first != "--audit" {
            refuseUnknown(
                arguments,
                known: ["--describe-config", "--check-config", "--migrate", "--ready", "--dead-letters", "--audit"])
        }
        if arguments.contains("--describe-config") {
            describe(definition.allVariables)
            end(0)
        }
        if arguments.contains("--check-config") {
            check(definition.allVariables, prefix: definition.prefix)
            end(0)
        }
        do {
            if arguments.contains("--ready") {
                let isReady = try await ReadyCheck.run(definition, environment: ProcessInfo.processInfo.environment)
                end(isReady ? 0 : 1)
            }
            if arguments.first == "--dead-letters" {
                let command = try DeadLetterCommand(Array(arguments.dropFirst()))
                let lines = try await command.run(definition, environment: ProcessInfo.processInfo.environment)
                for line in lines { print(line) }
                end(0)
            }
            if arguments.first == "--audit" {
                try AuditCommand.check(Array(arguments.dropFirst()))
                let lines = try await AuditCommand.run(definition, environment: ProcessInfo.processInfo.environment)
                for line in lines { print(line) }
                end(0)
            }
            if arguments.contains("--migrate") {
                print(try await MigrateCommand.run(definition, environment: ProcessInfo.processInfo.environment))
                end(0)
            }
            let container = try await make(definition)
            let stop = await StopSignal()
            try await container.start()
            Loop.spawn {
                if case .refused(let reason) = await container.waitForEnd() { fail("\(definition.name): \(reason)") }
                await stop.hear()
            }
            await stop.wait()
            await container.stop()
            end(0)
        } catch {
            fail("\(definition.name): \(error)")
        }
    }

    @Loop private static func make(_ definition: ServiceDefinition) throws -> ServiceContainer {
        try ServiceContainer(definition, environment: ProcessInfo.processInfo.environment)
    }
}
