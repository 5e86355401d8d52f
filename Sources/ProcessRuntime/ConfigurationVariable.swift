/// One environment variable that a program reads: its type, its default and a sentence.
public struct ConfigurationVariable: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case text
        case integer(ClosedRange<Int64>)
        case boolean
        /// `300s`, `15m`, `72h`, within seconds from and to; `off` where `mayBeOff`.
        case duration(ClosedRange<Int64>, mayBeOff: Bool)
        case choice([String])
        /// Comma-separated, one of these at least and each once at most; the order counts.
        case choices([String])
        /// Comma-separated.
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

        /// In the largest unit that leaves no rest: `90s`, `15m`, `72h`, `14d`.
        private static func text(_ seconds: Int64) -> String {
            let unit = Configuration.units.last { seconds % $0.seconds == 0 } ?? ("s", 1)
            return "\(seconds / unit.seconds)\(unit.letter)"
        }
    }

    public var name: String
    public var kind: Kind
    /// `nil`: there is no value unless one is set.
    public var fallback: String?
    public var note: String
    /// May also be given as `NAME_FILE`, the path of a file with the value; never printed.
    public var isSecret: Bool

    public init(_ name: String, _ kind: Kind, _ fallback: String?, _ note: String, isSecret: Bool = false) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.note = note
        self.isSecret = isSecret
    }
}

/// Where a system runs, and how much it forgives.
public enum DeploymentProfile: String, Sendable, CaseIterable {
    case development, staging, production

    /// Whoever forgets to say it gets the strictest.
    static let unlessSaid = production
}
