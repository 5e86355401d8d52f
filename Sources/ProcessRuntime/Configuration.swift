import Cryptography
import Foundation

/// Why a program does not start.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text for the operator.
    package let description: String
    /// Takes the text for the operator.
    package init(_ description: String) { self.description = description }
}

/// The environment of a program. The program checks it as a whole before anything starts.
package struct Configuration: Sendable {
    /// The kind of environment that the system runs in.
    package let profile: DeploymentProfile
    private let values: [String: String]
    /// The files that secrets were read from, by the variable's name.
    private let files: [String: String]
    private let variables: [String: ConfigurationVariable]

    /// Checks an environment.
    ///
    /// - Parameters:
    ///   - prefix: such as `AUTH_`. This refuses unknown names with the prefix, and names that are similar to a
    ///     variable's. It ignores names that orchestrators inject.
    ///   - environment: the environment of the process.
    /// - Throws: ``ConfigurationError`` that names every unknown variable and every invalid value.
    package init(
        variables: [ConfigurationVariable], prefix: String, environment: [String: String]
    ) throws(ConfigurationError) {
        self.variables = Dictionary(uniqueKeysWithValues: variables.map { ($0.name, $0) })
        let mistakes = Self.mistakes(variables: variables, prefix: prefix, environment: environment)
        guard mistakes.isEmpty else { throw ConfigurationError(mistakes.joined(separator: "; ")) }
        let said = environment["VESTIBULE_PROFILE"] ?? DeploymentProfile.unlessSaid.rawValue
        guard let profile = DeploymentProfile(rawValue: said) else {
            throw ConfigurationError("VESTIBULE_PROFILE must be development, staging or production")
        }
        self.profile = profile
        files = variables.filter(\.isSecret).reduce(into: [:]) { $0[$1.name] = environment["\($1.name)_FILE"] }
        var values: [String: String] = [:]
        for variable in variables {
            values[variable.name] = try Self.value(of: variable, in: environment)
        }
        self.values = values
    }

    /// Every unknown name that is similar to a variable's or has the prefix, and every invalid value.
    static func mistakes(
        variables: [ConfigurationVariable], prefix: String, environment: [String: String]
    ) -> [String] {
        let known = Dictionary(uniqueKeysWithValues: variables.map { ($0.name, $0) })
        let names = environment.keys.sorted().compactMap { name -> String? in
            let isInjected = name.hasSuffix("_HOST") || name.contains("_PORT")
            let isFile = name.hasSuffix("_FILE") && known[String(name.dropLast(5))]?.isSecret == true
            guard !isInjected, !isFile, known[name] == nil else { return nil }
            if let meant = variables.first(where: { isMisspelling(name, of: $0) }) {
                return "\(name) is no variable of this program: is \(meant.name) meant?"
            }
            return name.hasPrefix(prefix) ? "\(name) is no variable of this program: is it misspelt?" : nil
        }
        let values = variables.compactMap { variable -> String? in
            do throws(ConfigurationError) {
                if let value = try value(of: variable, in: environment) { try check(variable, value) }
                return nil
            } catch {
                return error.description
            }
        }
        return names + values
    }

    /// Whether two names differ by at most one letter, or by two letters if the name is long. A mistyped
    /// `VESTIBULE_PROFILE` must not silently get the default.
    private static func isMisspelling(_ name: String, of variable: ConfigurationVariable) -> Bool {
        let stem = variable.isSecret && name.hasSuffix("_FILE") ? name.dropLast(5) : name[...]
        let (given, meant) = (Array(stem.utf8), Array(variable.name.utf8))
        let most = meant.count < 12 ? 1 : 2
        guard abs(given.count - meant.count) <= most else { return false }
        // The Levenshtein distance, one row of its table at a time.
        var row = Array(0...meant.count)
        for (line, letter) in given.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in meant.enumerated() {
                let change = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
            }
        }
        return row[meant.count] <= most
    }

    private static func value(
        of variable: ConfigurationVariable, in environment: [String: String]
    ) throws(ConfigurationError) -> String? {
        if let value = environment[variable.name], !value.isEmpty { return value }
        if variable.isSecret, let path = environment[variable.name + "_FILE"] {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw ConfigurationError("\(variable.name)_FILE names a file that cannot be read")
            }
            let value = text.trimmingCharacters(in: .newlines)
            if !value.isEmpty { return value }
        }
        return variable.fallback
    }

    private static func check(_ variable: ConfigurationVariable, _ value: String) throws(ConfigurationError) {
        let fits =
            switch variable.kind {
            case .text, .list: true
            case .integer(let range): Int64(value).map { range.contains($0) } ?? false
            case .boolean: value == "true" || value == "false"
            case .duration(let range, let mayBeOff):
                mayBeOff && value == "off" || seconds(value).map { range.contains($0) } ?? false
            case .choice(let values): values.contains(value)
            case .choices(let values):
                !Self.items(of: value).isEmpty && Set(values).isSuperset(of: Self.items(of: value))
                    && Set(Self.items(of: value)).count == Self.items(of: value).count
            }
        guard !fits else { return }
        let shown = variable.isSecret ? "its value" : "\"\(value)\""
        throw ConfigurationError("\(variable.name): \(shown) is not valid (\(variable.kind.label))")
    }

    /// The units of durations, the smallest first.
    static let units: [(letter: Character, seconds: Int64)] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]

    /// `300s`, `15m`, `72h`, `14d`.
    static func seconds(_ text: String) -> Int64? {
        guard let letter = text.last, let count = Int64(text.dropLast()), count >= 0,
            let unit = units.first(where: { $0.letter == letter })
        else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit.seconds)
        return overflow ? nil : product
    }

    // MARK: Reading

    /// The value of a declared variable. Asking for an undeclared variable is a programming error.
    package func optionalText(_ name: String) -> String? {
        precondition(variables[name] != nil, "\(name) is not declared")
        return values[name]
    }

    /// - Throws: ``ConfigurationError`` if the variable has neither a value nor a default.
    package func text(_ name: String) throws(ConfigurationError) -> String {
        guard let value = optionalText(name) else {
            let isSecret = variables[name]?.isSecret == true
            throw ConfigurationError("\(name) \(isSecret ? "or \(name)_FILE " : "")is required")
        }
        return value
    }

    /// The value of a declared number.
    package func integer(_ name: String) throws(ConfigurationError) -> Int64 { Int64(try text(name)) ?? 0 }
    /// The value of a declared boolean.
    package func boolean(_ name: String) throws(ConfigurationError) -> Bool { try text(name) == "true" }
    /// The value of a declared duration.
    package func duration(_ name: String) throws(ConfigurationError) -> Duration {
        .seconds(Self.seconds(try text(name)) ?? 0)
    }
    /// The values of a list; empty if the variable has no value.
    package func list(_ name: String) -> [String] { Self.items(of: optionalText(name) ?? "") }

    private static func items(of list: String) -> [String] {
        list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// An address to listen on: `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`. Port 0 means any free port.
    package func address(_ name: String) throws(ConfigurationError) -> (host: String, port: Int) {
        let parts = try text(name).split(separator: ":", omittingEmptySubsequences: false)
        let host = parts.dropLast().joined(separator: ":")
        guard parts.count >= 2, !host.isEmpty, let port = parts.last.flatMap({ Int($0) }), (0...65535).contains(port)
        else { throw ConfigurationError("\(name) must be ADDRESS:PORT") }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        return (isBracketed ? String(host.dropFirst().dropLast()) : host, port)
    }

    /// The key ring in a variable that is declared as a secret. Outside development, only the owner or the group may
    /// read its file.
    package func keyRing(_ name: String) throws(ConfigurationError) -> KeyRing {
        var status = stat()
        if profile != .development, let file = files[name], stat(file, &status) == 0, status.st_mode & 0o007 != 0 {
            throw ConfigurationError("\(name)_FILE may be read or written by others: chmod 0400 \(file)")
        }
        do {
            return try KeyRing(contents: try text(name))
        } catch let error as KeyRing.ParseError {
            throw ConfigurationError("\(name): \(error)")
        } catch {
            throw ConfigurationError("\(name) or \(name)_FILE is required: a key ring, a line `id base64` for each key")
        }
    }
}
