/// One environment variable that a program reads: its type, its default and a description.
package struct ConfigurationVariable: Sendable, Hashable {
    /// The types of variables.
    package enum Kind: Sendable, Hashable {
        case text
        case integer(ClosedRange<Int64>)
        case boolean
        /// `300s`, `15m`, `72h`, within a range of seconds; or `off` if `mayBeOff`.
        case duration(ClosedRange<Int64>, mayBeOff: Bool)
        case choice([String])
        /// A comma-separated list of at least one of these words, each at most once. The order matters.
        case choices([String])
        /// A comma-separated list.
        case list

        var label: String {
            switch self {
            case .text: "text"
            case .integer(let range): "number \(range.lowerBound)…\(range.upperBound)"
            case .boolean: "true or false"
            case .duration(let range, let mayBeOff):
                "duration \(Self.text(range.lowerBound))…\(Self.text(range.upperBound))" + (mayBeOff ? " or off" : "")
            case .choice(let values): values.joined(separator: " or ")
            case .choices(let values): "list of " + values.joined(separator: " or ")
            case .list: "list"
            }
        }

        /// Written in the largest unit without a remainder: `90s`, `15m`, `72h`, `14d`.
        private static func text(_ seconds: Int64) -> String {
            let unit = Configuration.units.last { seconds % $0.seconds == 0 } ?? ("s", 1)
            return "\(seconds / unit.seconds)\(unit.letter)"
        }
    }

    /// The name in the environment.
    package var name: String
    /// The type of the value.
    package var kind: Kind
    /// The default; `nil` if there is none.
    package var fallback: String?
    /// The description, for the operator.
    package var note: String
    /// The value may also be in a file, whose path is in `NAME_FILE`. No program prints it.
    package var isSecret: Bool

    /// Takes the name, the type, the default and the description.
    package init(_ name: String, _ kind: Kind, _ fallback: String?, _ note: String, isSecret: Bool = false) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.note = note
        self.isSecret = isSecret
    }
}

/// The kind of environment that a system runs in. It decides how strict the checks at the start are.
package enum DeploymentProfile: String, Sendable, CaseIterable {
    case development, staging, production

    /// The default is the strictest profile.
    static let unlessSaid = production
}
