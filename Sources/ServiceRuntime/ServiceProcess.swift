import EventLoop
import Foundation

extension ServiceProcess {
    /// What every `@main` calls; it does not return.
    ///
    /// `--describe-config` prints the variables as JSON, and `--check-config` each mistake in the environment.
    /// `--migrate` brings the schema up to date as its owner and ends, `--ready` asks the replica that runs with the same
    /// environment and ends with 0 where it answers and has been ready since it started, otherwise with 1.
    /// `--dead-letters` prints what was given up, a JSON object a line; `--dead-letters replay`, with ids or `all`, puts it
    /// back and prints the ids. `--audit verify` prints what holds of the audit trail and what does not, likewise.
    public static func main(_ definition: ServiceDefinition) async -> Never {
        let arguments = CommandLine.arguments.dropFirst()
        // What follows these is their own to judge.
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
