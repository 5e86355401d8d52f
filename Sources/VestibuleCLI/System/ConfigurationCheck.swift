import Foundation

/// Finds mistakes in the environment before any service starts.
struct ConfigurationCheck {
    /// The names of the variables that each program reads.
    private let variables: [String: [String]]

    /// Checks the environment of this command.
    ///
    /// - Parameter given: the variables that the command itself sets for the programs.
    /// - Throws: ``CommandError`` with all mistakes and the exit code 78.
    static func refuseMistakes(but given: Set<String>) throws {
        let mistakes = try ConfigurationCheck().mistakes(in: ProcessInfo.processInfo.environment, given: given)
        guard mistakes.isEmpty else { throw CommandError(mistakes.joined(separator: "; "), code: 78) }
    }

    private init() throws {
        let names = Array(LocalSystem.programs.keys)
        let answers = names.together { try LocalSystem.variables(of: $0) }
        variables = try Dictionary(uniqueKeysWithValues: zip(names, answers).map { ($0, try $1.get()) })
    }

    /// Lists each mistake once: an unknown name with one of our prefixes, or a value that its variable does not allow.
    ///
    /// - Parameters:
    ///   - environment: the environment of the command.
    ///   - given: the variables that the command itself sets for the programs.
    private func mistakes(in environment: [String: String], given: Set<String>) throws -> [String] {
        let names = Array(variables.keys)
        let answers = names.together { try ask($0, of: environment, given) }
        var found: [String: [String]] = [:]
        for (name, answer) in zip(names, answers) {
            for mistake in try answer.get() { found[mistake, default: []].append(name) }
        }
        // If several programs report a mistake, show it without the name of a program.
        return found.sorted { $0.key < $1.key }.map { $0.value.count == 1 ? "\($0.value[0]): \($0.key)" : $0.key }
    }

    /// Asks a program for the mistakes in the variables that no other program reads.
    private func ask(_ name: String, of environment: [String: String], _ given: Set<String>) throws -> [String] {
        let own = Set(variables[name] ?? [])
        let others = Set(variables.values.joined()).subtracting(own)
        let seen = environment.filter { variable, _ in
            let stem = variable.hasSuffix("_FILE") ? String(variable.dropLast(5)) : variable
            return !given.contains(variable) && !others.contains(variable) && !others.contains(stem)
        }
        return try Subprocess.run([LocalSystem.program(of: name), "--check-config"], environment: seen)
            .split(separator: "\n").map(String.init)
    }
}
