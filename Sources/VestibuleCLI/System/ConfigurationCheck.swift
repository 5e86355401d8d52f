import Foundation

/// Finds mistakes in the environment before any program starts.
struct ConfigurationCheck {
    /// The names of the variables that each program reads.
    private let variables: [String: [String]]

    init() throws {
        variables = try Dictionary(
            uniqueKeysWithValues: LocalSystem.programs.map { name, program in
                (name, try LocalSystem.variables(of: LocalSystem.binary(program)))
            })
    }

    /// Lists each mistake once: an unknown name with one of our prefixes, or a value that its variable does not allow.
    ///
    /// - Parameters:
    ///   - environment: of the command.
    ///   - given: the variables that the command itself sets for the programs.
    func mistakes(in environment: [String: String], given: Set<String>) throws -> [String] {
        var found: [String: [String]] = [:]
        for (name, program) in LocalSystem.programs {
            let own = Set(variables[name] ?? [])
            let others = Set(variables.values.joined()).subtracting(own)
            let seen = environment.filter { variable, _ in
                let stem = variable.hasSuffix("_FILE") ? String(variable.dropLast(5)) : variable
                return !given.contains(variable) && !others.contains(variable) && !others.contains(stem)
            }
            for mistake in try Self.ask(LocalSystem.binary(program), seen) { found[mistake, default: []].append(name) }
        }
        // A mistake that several programs report is shown without the name of one.
        return found.sorted { $0.key < $1.key }.map { $0.value.count == 1 ? "\($0.value[0]): \($0.key)" : $0.key }
    }

    private static func ask(_ program: String, _ environment: [String: String]) throws -> [String] {
        try Subprocess.run([program, "--check-config"], environment: environment).split(separator: "\n").map(
            String.init)
    }
}
